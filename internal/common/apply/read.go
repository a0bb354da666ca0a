package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Find reads the named object into obj and returns it, nil if there is none.
func Find[T client.Object](ctx context.Context, r client.Reader, key client.ObjectKey, obj T, options ...client.GetOption) (T, error) {
	var none T
	object := kindOf(obj) + " " + key.Name
	err := r.Get(ctx, key, obj, options...)
	switch {
	case apierrors.IsNotFound(err):
		return none, nil
	case err != nil:
		return none, failed("reading", object, err)
	}
	return obj, nil
}

// Copy returns a deep copy of the object.
func Copy[T runtime.Object](obj T) T {
	return obj.DeepCopyObject().(T) //nolint:errcheck // A copy has the type of its original.
}

// List reads the objects that the options select into the list, and returns them. An object
// of another type is an error.
func List[T any](ctx context.Context, r client.Reader, list client.ObjectList, options ...client.ListOption) ([]T, error) {
	if err := r.List(ctx, list, options...); err != nil {
		return nil, err
	}
	var items []T
	err := meta.EachListItem(list, func(obj runtime.Object) error {
		item, ok := obj.(T)
		if !ok {
			return fmt.Errorf("%T holds %T; this is a bug in the operator", list, obj)
		}
		items = append(items, item)
		return nil
	})
	return items, err
}

// FindUncached is [Find] for an object that a cache limited by label does not show. c
// serves unstructured reads from the API server.
func FindUncached[T client.Object](ctx context.Context, c client.Client, key client.ObjectKey, obj T) (T, error) {
	var none T
	live, err := lookUp(ctx, c, key, obj)
	if live == nil || err != nil {
		return none, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, obj); err != nil {
		return none, fmt.Errorf("converting %s: %w", described(live), err)
	}
	return obj, nil
}

// Stays reports whether the API server still has the same object as the cache, not being
// deleted.
func Stays(ctx context.Context, c client.Client, cached client.Object) (bool, error) {
	live, err := lookUp(ctx, c, client.ObjectKeyFromObject(cached), cached)
	return live != nil && live.GetUID() == cached.GetUID() && live.GetDeletionTimestamp() == nil, err
}

// lookUp asks the API server for an object of the same kind that the cache does not know.
// A client that waits for the cache to have seen earlier writes would start an informer
// of unstructured objects for that, next to the typed one.
func lookUp(ctx context.Context, c client.Client, key client.ObjectKey, like client.Object) (*unstructured.Unstructured, error) {
	gvk, err := kindIn(c.Scheme(), like)
	if err != nil {
		return nil, err
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(gvk)
	return Find(ctx, c, key, live, client.DisableReadYourWritesConsistency)
}

func kindIn(scheme *runtime.Scheme, obj client.Object) (schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(obj, scheme)
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("finding the kind of %T: %w", obj, err)
	}
	return gvk, nil
}
