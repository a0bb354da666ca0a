package watches

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/apply"
)

// Finder finds the resources of a controller that an event concerns.
type Finder interface {
	// Reader reads from the manager's cache.
	client.Reader
	// By returns the resources of the event's namespace that have the name of the event's
	// object in an indexed field.
	By(field string) handler.MapFunc
	// Sharing returns the resources of all namespaces that have one of the values of the
	// event's object, which may be of another kind, in an indexed field.
	Sharing(field string, values func(client.Object) []string) handler.MapFunc
	// SameNamespace returns the resources of the event's namespace.
	SameNamespace(ctx context.Context, obj client.Object) []reconcile.Request
	// All returns every resource, regardless of the event.
	All(ctx context.Context, obj client.Object) []reconcile.Request
}

// Mapper maps events to the resources of the kind T that they concern. It reads
// from a cache, so an error means a defect or the shutdown of the operator: it is
// logged, and no resource is returned.
type Mapper[T client.Object] struct {
	// Reader is the manager's cache.
	client.Reader
	// NewList returns an empty list of the kind.
	NewList func() client.ObjectList
	// Plural names the kind in the log. Example: "Placements".
	Plural string
}

// Index makes resources searchable with By, by the names that a function returns for a field.
func (m Mapper[T]) Index(ctx context.Context, indexer client.FieldIndexer, obj T, fields map[string]func(T) []string) error {
	for field, names := range fields {
		index := func(obj client.Object) []string {
			resource, ok := obj.(T)
			if !ok {
				return nil
			}
			return names(resource)
		}
		if err := indexer.IndexField(ctx, obj, field, index); err != nil {
			return fmt.Errorf("indexing %s by %s: %w", m.Plural, field, err)
		}
	}
	return nil
}

// By implements [Finder].
func (m Mapper[T]) By(field string) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		return m.find(ctx, client.InNamespace(obj.GetNamespace()), client.MatchingFields{field: obj.GetName()})
	}
}

// Sharing implements [Finder].
func (m Mapper[T]) Sharing(field string, values func(client.Object) []string) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		shared := values(obj)
		requests := make([]reconcile.Request, 0, len(shared))
		for _, value := range shared {
			requests = append(requests, m.find(ctx, client.MatchingFields{field: value})...)
		}
		return requests
	}
}

// SameNamespace implements [Finder].
func (m Mapper[T]) SameNamespace(ctx context.Context, obj client.Object) []reconcile.Request {
	return m.find(ctx, client.InNamespace(obj.GetNamespace()))
}

// All implements [Finder].
func (m Mapper[T]) All(ctx context.Context, _ client.Object) []reconcile.Request {
	return m.find(ctx)
}

// find returns a request for each resource in the list.
func (m Mapper[T]) find(ctx context.Context, options ...client.ListOption) []reconcile.Request {
	resources, err := apply.List[T](ctx, m.Reader, m.NewList(), options...)
	if err != nil {
		log.FromContext(ctx).Error(err, "Listing the "+m.Plural+" that an event concerns failed")
		return nil
	}
	requests := make([]reconcile.Request, 0, len(resources))
	for _, resource := range resources {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(resource)})
	}
	return requests
}
