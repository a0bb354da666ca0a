package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/internal/common/watches"
)

// refuseSharer refuses the resource if an older one uses the same database.
func refuseSharer(ctx context.Context, p *service.Pass) (reconcile.Refusal, error) {
	sharers, err := service.Sharers(ctx, p)
	oldest := service.OldestOf(sharers)
	if err != nil || oldest == nil || oldest.GetUID() == p.Resource.GetUID() {
		return reconcile.Refusal{}, err
	}
	return reconcile.Refusal{Reason: vocabulary.ReasonDatabaseInUse, Message: fmt.Sprintf(
		"%s %s of namespace %s is older and has the database %s; give this one another database or delete it",
		p.Kind, oldest.GetName(), oldest.GetNamespace(), p.Spec.Database.Database)}, nil
}

func databaseKeys[R service.Resource](in cluster.Settings) func(R) []string {
	return func(resource R) []string { return []string{service.DatabaseKey(resource, in)} }
}

// watchSharers reconciles the resources with the same database when another releases it.
func watchSharers[R service.Resource](b *builder.Builder, find watches.Mapper[R], empty R, in cluster.Settings) {
	b.Watches(empty, handler.EnqueueRequestsFromMapFunc(find.Sharing(service.IndexDatabase, databaseKeys[R](in))),
		builder.WithPredicates(databaseChanges[R](in)))
}

// databaseChanges selects the events after which a database may belong to another
// resource.
func databaseChanges[R service.Resource](in cluster.Settings) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, known := e.ObjectOld.(R)
			after, both := e.ObjectNew.(R)
			return known && both && service.DatabaseKey(before, in) != service.DatabaseKey(after, in)
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
