package reconcile

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// beingDeleted is a resource under deletion with the finalizers.
func beingDeleted(finalizers ...string) *thing {
	obj := someThing()
	now := metav1.Now()
	obj.DeletionTimestamp, obj.Finalizers = &now, finalizers
	return obj
}

// A later pass could not report again what a stage has orphaned.
func TestFinalizersAreRemovedDespiteAConcurrentUpdate(t *testing.T) {
	w := newWorld(t, beingDeleted("test.c5c3.io/first", "example.com/theirs", "test.c5c3.io/second"))
	passes := 0
	w.reconciler.Finalizers[0].Step.Run = func(ctx context.Context, _ *thing) Outcome {
		passes++
		live := w.get(t)
		live.Annotations = map[string]string{"example.com/note": "new"}
		if err := w.Update(ctx, live); err != nil {
			t.Error(err)
		}
		return Done("Abandoned", "").WithEvent(corev1.EventTypeWarning, "LeftBehind", "nobody removes it")
	}
	w.reconciler.Finalizers[1].Step.Run = func(context.Context, *thing) Outcome { return Done("Released", "") }
	if _, err := w.pass(t); err != nil {
		t.Fatal(err)
	}
	got := w.get(t)
	if diff := cmp.Diff([]string{"example.com/theirs"}, got.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	if got.Annotations["example.com/note"] != "new" {
		t.Error("the annotation of somebody else is lost")
	}
	if diff := cmp.Diff([]string{"Warning LeftBehind nobody removes it"}, w.events()); diff != "" || passes != 1 {
		t.Errorf("after %d passes, events (-want +got):\n%s", passes, diff)
	}
}

func TestConcurrentlyChangedFinalizersAreAConflict(t *testing.T) {
	w := newWorld(t, beingDeleted("example.com/theirs", "test.c5c3.io/first"))
	w.reconciler.Finalizers[0].Step.Run = func(ctx context.Context, _ *thing) Outcome {
		live := w.get(t)
		live.Finalizers = []string{"test.c5c3.io/first"}
		if err := w.Update(ctx, live); err != nil {
			t.Error(err)
		}
		return Done("Abandoned", "")
	}
	if _, err := w.pass(t); err == nil {
		t.Error("the pass has succeeded")
	}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(someThing()), &thing{}); apierrors.IsNotFound(err) {
		t.Error("a finalizer was removed that is not where it was")
	}
}

func TestFinalizersAreAddedBeforeTheFirstStep(t *testing.T) {
	w := newWorld(t, someThing())
	w.reconciler.Pipeline[0].Run = func(context.Context, *thing) Outcome {
		if got := w.get(t).Finalizers; len(got) != 2 {
			t.Errorf("finalizers %v when the first step runs, want both", got)
		}
		return Done("Fine", "")
	}
	if _, err := w.pass(t); err != nil {
		t.Fatal(err)
	}
}

func TestFinalizersAreRemovedInOrderAndTheWaitIsReported(t *testing.T) {
	obj := someThing()
	obj.Finalizers = []string{"test.c5c3.io/first", "test.c5c3.io/second"}
	now := metav1.Now()
	obj.DeletionTimestamp = &now
	w := newWorld(t, obj)
	second := Waiting("StoreSealed", "unseal the store")
	w.reconciler.Finalizers[1].Step.Run = func(context.Context, *thing) Outcome { return second }
	if _, err := w.pass(t); err != nil {
		t.Fatal(err)
	}
	got := w.get(t)
	ready := meta.FindStatusCondition(got.Status.Conditions, vocabulary.ConditionReady)
	if diff := cmp.Diff([]string{"test.c5c3.io/second"}, got.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	if ready == nil || ready.Reason != vocabulary.ReasonDeleting || !strings.Contains(ready.Message, "unseal the store") {
		t.Errorf("Ready is %+v, want it to name what deletion waits for", ready)
	}
	second = Done("Released", "")
	if _, err := w.pass(t); err != nil {
		t.Fatal(err)
	}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(obj), &thing{}); !apierrors.IsNotFound(err) {
		t.Errorf("reading it after the last stage: %v, want it gone", err)
	}
	if diff := cmp.Diff([]string{"thing"}, w.forgotten); diff != "" {
		t.Errorf("forgotten (-want +got):\n%s", diff)
	}
}
