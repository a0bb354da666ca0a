package controller

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// refuseSharers leaves a Keystone alone whose database an older one has. Each would
// encrypt with keys of its own what the other is to read.
func refuseSharers(
	reader client.Reader, c cluster.Settings,
) func(context.Context, *keystonev1alpha1.Keystone) (reconcile.Outcome, bool) {
	return func(ctx context.Context, k *keystonev1alpha1.Keystone) (reconcile.Outcome, bool) {
		sharers, err := sharersOf(ctx, reader, c, k)
		if err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err), true
		}
		oldest := keystonev1alpha1.OldestOf(sharers)
		if oldest == nil || oldest.UID == k.UID {
			return reconcile.Outcome{}, false
		}
		return reconcile.Degraded(keystonev1alpha1.ReasonDatabaseInUse, fmt.Sprintf(
			"Keystone %s of namespace %s is older and has the database %s; give this one another database or delete it",
			oldest.Name, oldest.Namespace, k.Spec.Database.Database)), true
	}
}

// sharersOf returns the Keystones with the same database, k among them, as far
// as the operator watches them.
func sharersOf(
	ctx context.Context, reader client.Reader, c cluster.Settings, k *keystonev1alpha1.Keystone,
) ([]keystonev1alpha1.Keystone, error) {
	var sharers keystonev1alpha1.KeystoneList
	if err := reader.List(ctx, &sharers, client.MatchingFields{indexDatabase: k.DatabaseKey(c)}); err != nil {
		return nil, fmt.Errorf("listing the Keystones with database %s: %w", k.Spec.Database.Database, err)
	}
	return sharers.Items, nil
}

// shared reports whether another Keystone, which is not being deleted, keeps data
// in the same database. One that was refused from the start has none there.
func shared(ctx context.Context, p *service.Pass) (bool, error) {
	k, ours := p.Resource.(*keystonev1alpha1.Keystone)
	if !ours {
		return false, nil
	}
	sharers, err := sharersOf(ctx, p.Client, p.Cluster, k)
	return slices.ContainsFunc(sharers, func(other keystonev1alpha1.Keystone) bool {
		return other.UID != k.UID && other.DeletionTimestamp.IsZero() && other.Status.InstalledRelease != ""
	}), err
}
