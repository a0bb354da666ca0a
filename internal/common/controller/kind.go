package controller

import (
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/c5c3/forge/internal/common/watches"
)

// Kind declares a kind that a controller watches. The entry in the scheme, the watch and what
// the cache keeps are derived from it.
type Kind struct {
	// Object is an empty object of the kind.
	Object client.Object
	// Concerns selects the resources to reconcile on an event. Nil stands for the resource
	// that controls the object, which the operator has written.
	Concerns Relation
	// Applied marks kinds that the operator writes although no resource controls them.
	Applied bool
	// Also selects further resources on any event, Freed on the deletion of an object. Both
	// may be nil.
	Also, Freed Relation
	// Only selects the events that matter; nil stands for all.
	Only predicate.Predicate
	// AddToScheme registers the kind. It is nil for built-in kinds and those of the
	// controller's own API.
	AddToScheme func(*runtime.Scheme) error
	// Optional marks kinds of other projects, which may be installed later or not at all.
	Optional bool
	// ClusterScoped marks kinds that an operator restricted to one namespace cannot read.
	ClusterScoped bool
}

// Relation selects the resources to reconcile on the events of an object.
type Relation func(watches.Finder) handler.MapFunc

// Every selects all resources.
func Every(find watches.Finder) handler.MapFunc { return find.All }

// SameNamespace selects the resources in the namespace of the object.
func SameNamespace(find watches.Finder) handler.MapFunc { return find.SameNamespace }

// By selects the resources in the namespace of the object that have its name in a field of
// [Controller.Indexes].
func By(index string) Relation {
	return func(find watches.Finder) handler.MapFunc { return find.By(index) }
}

// written reports whether the operator creates and changes objects of the kind.
func (k Kind) written() bool { return k.Concerns == nil || k.Applied }

// reachable reports whether an operator of the namespace, "" for all, may read objects of the
// kind: a Role does not grant cluster-scoped ones.
func (k Kind) reachable(namespace string) bool { return namespace == "" || !k.ClusterScoped }

// handlers returns the handlers of the kind's events for a controller of resources like the
// given one. Each needs a watch of its own.
func (k Kind) handlers(mgr ctrl.Manager, find watches.Finder, resource client.Object) []handler.EventHandler {
	var all []handler.EventHandler
	if k.Concerns == nil {
		all = append(all, handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), resource, handler.OnlyControllerOwner()))
	} else {
		all = append(all, handler.EnqueueRequestsFromMapFunc(k.Concerns(find)))
	}
	if k.Also != nil {
		all = append(all, handler.EnqueueRequestsFromMapFunc(k.Also(find)))
	}
	if k.Freed != nil {
		all = append(all, handler.Funcs{DeleteFunc: handler.EnqueueRequestsFromMapFunc(k.Freed(find)).Delete})
	}
	return all
}
