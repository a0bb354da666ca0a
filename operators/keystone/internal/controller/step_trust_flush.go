package controller

import (
	"context"
	"slices"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/scheduled"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// trustFlush is the CronJob that deletes expired trusts.
var trustFlush = scheduled.Task{
	Name: "trust-flush", Does: "deleting expired trusts", Database: pass.Database,
	Ready: keystonev1alpha1.ReasonTrustFlushReady, Failed: keystonev1alpha1.ReasonTrustFlushFailed,
}

// reconcileTrustFlush ensures the CronJob that deletes expired trusts.
func reconcileTrustFlush(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	return trustFlush.Reconcile(ctx, s.Pass, flushes(s))
}

// flushes returns when expired trusts are deleted. The schedule is always set, as the defaults
// of a pass apply with or without a webhook.
func flushes(s *pass.Scope) scheduled.Run {
	wanted := s.Resource.Spec.TrustFlush
	return scheduled.Run{
		Command: slices.Concat(pass.Manage("trust_flush"), wanted.Args), Mounts: keys.Mounts(s.Resource.Name),
		Schedule: wanted.Schedule, Suspend: wanted.Suspend,
	}
}
