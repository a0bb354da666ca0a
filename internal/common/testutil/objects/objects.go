// Package objects lets tests against an API server change stored objects,
// as users and foreign controllers do while an operator is running: it waits for an
// object that does not exist yet, and retries a change that conflicts with
// another one.
package objects

import (
	"context"
	"maps"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// Create stores the objects, and fails the test at the first that is refused.
func Create(t testing.TB, c client.Client, objs ...client.Object) {
	t.Helper()
	for _, obj := range objs {
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatalf("create %T %s: %v", obj, obj.GetName(), err)
		}
	}
}

// Change waits until the object exists and stores an edit of its current state,
// which it leaves in obj. The edit is retried if the object has changed
// in between.
func Change[T client.Object](t testing.TB, c client.Client, obj T, edit func(T)) {
	t.Helper()
	change(t, c, obj, edit, func(ctx context.Context, before client.Patch) error { return c.Patch(ctx, obj, before) })
}

// ChangeStatus is [Change] for an edit of the status.
func ChangeStatus[T client.Object](t testing.TB, c client.Client, obj T, edit func(T)) {
	t.Helper()
	change(t, c, obj, edit, func(ctx context.Context, before client.Patch) error { return c.Status().Patch(ctx, obj, before) })
}

func change[T client.Object](
	t testing.TB, c client.Client, obj T, edit func(T), store func(context.Context, client.Patch) error,
) {
	t.Helper()
	err := expect.Until(t.Context(), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
		before := obj.DeepCopyObject().(client.Object)
		edit(obj)
		return store(ctx, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil {
		t.Fatalf("change %T %s: %v", obj, obj.GetName(), err)
	}
}

// Annotate is [Change] that sets an annotation to what value returns for the current state.
func Annotate[T client.Object](t testing.TB, c client.Client, obj T, key string, value func(T) string) {
	t.Helper()
	Change(t, c, obj, func(obj T) {
		annotations := map[string]string{}
		maps.Copy(annotations, obj.GetAnnotations())
		annotations[key] = value(obj)
		obj.SetAnnotations(annotations)
	})
}

// Delete waits until the object exists and deletes it. It may still exist
// afterwards: see [expect.Gone].
func Delete(t testing.TB, c client.Client, obj client.Object, options ...client.DeleteOption) {
	t.Helper()
	err := expect.Until(t.Context(), func(ctx context.Context) error { return c.Delete(ctx, obj, options...) })
	if err != nil {
		t.Fatalf("delete %T %s: %v", obj, obj.GetName(), err)
	}
}
