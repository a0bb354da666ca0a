package controller

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// reconcileInstallation installs the schema before keys are generated. The database may
// already be in use, and credentials stored in it need their own keys. The Database step
// handles everything else.
func reconcileInstallation(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	first, err := keystoneSchema.InstallsFirst(ctx, s.Pass)
	switch {
	case err != nil:
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	case !first:
		return reconcile.Done(vocabulary.ReasonDatabaseSynced, "")
	}
	if err := install(ctx, s); err != nil {
		return keystoneSchema.Count(ctx, s.Pass, reconcile.Failed(vocabulary.ReasonDBSyncFailed, err))
	}
	return reconcile.Done(vocabulary.ReasonDatabaseSynced, "")
}

// install returns an error until the schema is installed.
func install(ctx context.Context, s *pass.Scope) error {
	found, err := mountedCredentialKeys(ctx, s)
	if err != nil {
		return err
	}
	mountedKeys.Put(s.Slots, found)
	err = keystoneSchema.Install(ctx, s.Pass)
	seen := pass.Content{Known: err == nil}
	var failed *job.FailedError
	if errors.As(err, &failed) && failed.ExitCode == unreadableCredentials {
		seen = pass.Content{Known: true, Unreadable: failed}
	}
	pass.DatabaseContent.Put(s.Slots, seen)
	return err
}

// mountedCredentialKeys returns the Secret that a Job mounts by its name, even if it is
// not claimed yet; nil for none.
func mountedCredentialKeys(ctx context.Context, s *pass.Scope) (*corev1.Secret, error) {
	key := s.Key(pass.CredentialKeysName(s.Resource))
	if found, err := s.Owned.Find(ctx, key); err != nil || found != nil {
		return found, err
	}
	return apply.Find(ctx, s.Refs, key, &corev1.Secret{})
}
