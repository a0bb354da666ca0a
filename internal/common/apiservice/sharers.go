package apiservice

import (
	"context"
	"fmt"
	"time"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/mariadb"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/sharing"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/internal/common/watches"
)

// refuseSharer refuses the resource if another one, of any kind, has the database. What it
// has made there so far is kept from being dropped.
func refuseSharer(ctx context.Context, p *service.Pass) (reconcile.Refusal, error) {
	holder, until, err := service.Holder(ctx, p)
	if err != nil || holder == nil {
		return reconcile.Refusal{}, err
	}
	if err := database.Spare(ctx, p); err != nil {
		return reconcile.Refusal{}, err
	}
	refusal := reconcile.Refusal{Reason: vocabulary.ReasonDatabaseInUse, Message: fmt.Sprintf(
		"%s has the database %s; give this one another database or delete it", holder, p.Data.Database.Database)}
	if !until.IsZero() {
		refusal.Message += fmt.Sprintf("; if the other one has not installed its schema by %s, it is no longer waited for",
			until.UTC().Format(time.RFC3339))
		refusal.After = max(until.Sub(p.Now()), time.Second)
	}
	return refusal, nil
}

func databaseKeys[R service.Resource](in cluster.Settings) func(R) []string {
	return func(resource R) []string { return service.DatabaseOf(resource, in).Keys() }
}

// sharers selects the resources of all namespaces that have the database of an object.
func sharers[R service.Resource](in cluster.Settings) controller.Relation {
	return func(find watches.Finder) handler.MapFunc { return find.Sharing(service.IndexDatabase, claimed[R](in)) }
}

// rivals are the kinds whose resources may get or release the database of another one: that
// of the service itself, and those of the other services.
func rivals[R service.Resource](own R, kind string, in cluster.Settings) []controller.Kind {
	others := sharing.Others(kind)
	kinds := make([]controller.Kind, len(others), len(others)+1)
	for i, other := range others {
		kinds[i] = controller.Kind{Object: sharing.Object(other), Concerns: sharers[R](in), Optional: true}
	}
	return append(kinds, controller.Kind{Object: own, Concerns: sharers[R](in), Only: databaseChanges[R](in)})
}

// claimed returns the keys of the database of a resource of any kind, or of the one that an
// object of mariadb-operator stands for.
func claimed[R service.Resource](in cluster.Settings) func(client.Object) []string {
	return func(obj client.Object) []string {
		switch resource := obj.(type) {
		case R:
			return service.DatabaseOf(resource, in).Keys()
		case *unstructured.Unstructured:
			return sharing.FromObject(resource, in).Database.Keys()
		case *mariadbv1alpha1.Database:
			return mariadb.IdentityOf(resource, in).Keys()
		}
		return nil
	}
}

// databaseChanges selects the events after which a database may belong to another
// resource.
func databaseChanges[R service.Resource](in cluster.Settings) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, known := e.ObjectOld.(R)
			after, both := e.ObjectNew.(R)
			return known && both && (service.DatabaseOf(before, in) != service.DatabaseOf(after, in) ||
				(before.ServiceStatus().InstalledRelease == "") != (after.ServiceStatus().InstalledRelease == ""))
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
