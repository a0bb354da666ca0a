package controller

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// refuseSharers leaves a resource alone whose database an older one has.
func (c Controller[T]) refuseSharers(reader client.Reader, in cluster.Settings) func(context.Context, T) (reconcile.Outcome, bool) {
	return func(ctx context.Context, resource T) (reconcile.Outcome, bool) {
		list := c.NewList()
		database := resource.ServiceSpec().Database
		key := database.Key(in, resource.GetNamespace())
		if err := reader.List(ctx, list, client.MatchingFields{indexDatabase: key}); err != nil {
			return reconcile.Failed(vocabulary.ReasonReconcileError, fmt.Errorf("listing the %s with database %s: %w",
				c.plural(), database.Database, err)), true
		}
		oldest := resource
		err := meta.EachListItem(list, func(item runtime.Object) error {
			if other, ok := item.(T); ok && isOlder(other, oldest) {
				oldest = other
			}
			return nil
		})
		if err != nil {
			return reconcile.Failed(vocabulary.ReasonReconcileError, err), true
		}
		if oldest.GetUID() == resource.GetUID() {
			return reconcile.Outcome{}, false
		}
		return reconcile.Degraded(vocabulary.ReasonDatabaseInUse, fmt.Sprintf(
			"%s %s of namespace %s is older and has the database %s; give this one another database or delete it",
			c.Definition.Kind, oldest.GetName(), oldest.GetNamespace(), database.Database)), true
	}
}

// isOlder compares by the time of creation, and by namespace and name within a second.
func isOlder(a, b client.Object) bool {
	created := a.GetCreationTimestamp()
	return cmp.Or(created.Compare(b.GetCreationTimestamp().Time),
		cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName())) < 0
}
