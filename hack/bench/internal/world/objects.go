package world

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/objects"
	"github.com/c5c3/forge/hack/bench/internal/operators"
	"github.com/c5c3/forge/internal/common/apply"
)

// Prepare creates what the resources refer to, with their namespaces.
func (w *World) Prepare(ctx context.Context, keys []client.ObjectKey) error {
	seen := map[string]bool{}
	for _, key := range keys {
		if seen[key.Namespace] {
			continue
		}
		seen[key.Namespace] = true
		if err := objects.Create(ctx, w.Client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}}); err != nil {
			return err
		}
	}
	return objects.Each(ctx, len(keys), func(ctx context.Context, i int) error {
		return w.operator.Prepare(ctx, w.Client, w.Standins, keys[i])
	})
}

// Change patches all the resources.
func (w *World) Change(ctx context.Context, keys []client.ObjectKey, edit func(operators.Resource)) error {
	return objects.Each(ctx, len(keys), func(ctx context.Context, i int) error {
		r := w.operator.Empty()
		if err := w.Client.Get(ctx, keys[i], r); err != nil {
			return err
		}
		return w.patch(ctx, r, func() { edit(r) })
	})
}

// patch sends what edit changes in an object that was read before.
func (w *World) patch(ctx context.Context, obj client.Object, edit func()) error {
	before := apply.Copy(obj)
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
