package world

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writers is how many objects are written concurrently.
const writers = 8

// Each calls do for all numbers below n, several concurrently.
func Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// Prepare creates what the resources refer to, with their namespaces.
func (w *World) Prepare(ctx context.Context, keys []client.ObjectKey) error {
	seen := map[string]bool{}
	for _, key := range keys {
		if seen[key.Namespace] {
			continue
		}
		seen[key.Namespace] = true
		if err := w.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}}); err != nil {
			return err
		}
	}
	return Each(ctx, len(keys), func(ctx context.Context, i int) error { return w.operator.Prepare(ctx, w, keys[i]) })
}

// Create creates an object. An existing one is left alone.
func (w *World) Create(ctx context.Context, obj client.Object) error {
	if err := w.Client.Create(ctx, obj); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %T %s: %w", obj, obj.GetName(), err)
	}
	return nil
}

// Change patches all the resources.
func (w *World) Change(ctx context.Context, keys []client.ObjectKey, edit func(Resource)) error {
	return Each(ctx, len(keys), func(ctx context.Context, i int) error {
		r := w.operator.Empty()
		if err := w.Client.Get(ctx, keys[i], r); err != nil {
			return err
		}
		return w.patch(ctx, r, func() { edit(r) })
	})
}

// patch sends what edit changes in an object that was read before.
func (w *World) patch(ctx context.Context, obj client.Object, edit func()) error {
	before, known := obj.DeepCopyObject().(client.Object)
	if !known {
		return fmt.Errorf("the copy of %T is not an object", obj)
	}
	edit()
	return w.Client.Patch(ctx, obj, client.MergeFrom(before))
}

// Touch changes an annotation of an object that resources share.
func (w *World) Touch(ctx context.Context, obj client.Object) error {
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return err
	}
	return w.patch(ctx, obj, func() {
		annotations := obj.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["example.com/touched"] = obj.GetResourceVersion()
		obj.SetAnnotations(annotations)
	})
}
