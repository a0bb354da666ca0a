package watches

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Mapper maps events to the resources of the kind T that they concern. It reads
// from a cache, so an error means a defect or the shutdown of the operator: it is
// logged, and no resource is returned.
type Mapper[T client.Object] struct {
	// Reader is the manager's cache.
	Reader client.Reader
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

// By returns the resources of the event's namespace that have the name of the
// event's object in an indexed field.
func (m Mapper[T]) By(field string) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		return m.find(ctx, nil, client.InNamespace(obj.GetNamespace()), client.MatchingFields{field: obj.GetName()})
	}
}

// Sharing returns the resources of all namespaces that have one of the values of the
// event's object, which may be of another kind, in an indexed field.
func (m Mapper[T]) Sharing(field string, values func(client.Object) []string) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		shared := values(obj)
		requests := make([]reconcile.Request, 0, len(shared))
		for _, value := range shared {
			requests = append(requests, m.find(ctx, nil, client.MatchingFields{field: value})...)
		}
		return requests
	}
}

// SameNamespace returns the resources of the event's namespace.
func (m Mapper[T]) SameNamespace(ctx context.Context, obj client.Object) []reconcile.Request {
	return m.find(ctx, nil, client.InNamespace(obj.GetNamespace()))
}

// SameNamespaceWhere returns the resources of the event's namespace that the event's
// object concerns.
func (m Mapper[T]) SameNamespaceWhere(concerns func(ctx context.Context, resource T, obj client.Object) bool) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		concerned := func(resource T) bool { return concerns(ctx, resource, obj) }
		return m.find(ctx, concerned, client.InNamespace(obj.GetNamespace()))
	}
}

// All returns every resource, regardless of the event.
func (m Mapper[T]) All(ctx context.Context, _ client.Object) []reconcile.Request {
	return m.find(ctx, nil)
}

// find returns a request for each resource in the list that passes the filter, which
// may be nil.
func (m Mapper[T]) find(ctx context.Context, passes func(T) bool, options ...client.ListOption) []reconcile.Request {
	list := m.NewList()
	var requests []reconcile.Request
	err := m.Reader.List(ctx, list, options...)
	if err == nil {
		err = meta.EachListItem(list, func(item runtime.Object) error {
			resource, ok := item.(T)
			if !ok {
				return fmt.Errorf("a list of %s holds %T", m.Plural, item)
			}
			if passes == nil || passes(resource) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(resource)})
			}
			return nil
		})
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "Listing the "+m.Plural+" that an event concerns failed")
		return nil
	}
	return requests
}
