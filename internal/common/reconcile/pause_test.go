package reconcile

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

func (w *world) annotate(t *testing.T, value string) {
	t.Helper()
	obj := w.get(t)
	obj.Annotations = map[string]string{vocabulary.AnnotationPaused: value}
	if err := w.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

func TestAPausedResourceOnlyGetsTheConditionPaused(t *testing.T) {
	w := newWorld(t, someThing())
	var calls []string
	w.reconciler.Suspend = func(context.Context, *thing) error { calls = append(calls, "suspend"); return nil }
	w.reconciler.Resume = func(context.Context, *thing) error { calls = append(calls, "resume"); return nil }
	pass := func() {
		t.Helper()
		if _, err := w.pass(t); err != nil {
			t.Fatal(err)
		}
	}
	w.annotate(t, "false")
	pass()
	before := w.get(t).Status
	w.annotate(t, "true")
	w.outcome = Degraded("Bad", "not while it is paused")
	pass()
	pass()
	paused := w.get(t).Status
	condition := meta.FindStatusCondition(paused.Conditions, vocabulary.ConditionPaused)
	if condition == nil || condition.Reason != vocabulary.ReasonPaused || w.statusWrites != 2 {
		t.Errorf("got %+v after %d status writes, want Paused after 2", condition, w.statusWrites)
	}
	meta.RemoveStatusCondition(&paused.Conditions, vocabulary.ConditionPaused)
	if diff := cmp.Diff(before, paused); diff != "" {
		t.Errorf("the rest of the status (-before +got):\n%s", diff)
	}
	w.annotate(t, "")
	pass()
	if meta.FindStatusCondition(w.get(t).Status.Conditions, vocabulary.ConditionPaused) != nil {
		t.Error("Paused is left")
	}
	if diff := cmp.Diff([]string{"suspend", "suspend", "resume"}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	want := []string{
		"Normal Fine all well", "Normal Paused Paused by the annotation forge.c5c3.io/paused",
		"Normal Resumed The annotation forge.c5c3.io/paused is gone",
	}
	if diff := cmp.Diff(want, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestAFailureToSuspendIsReportedAndRetried(t *testing.T) {
	w, failure := newWorld(t, someThing()), errors.New("the API server refuses")
	w.reconciler.Suspend = func(context.Context, *thing) error { return failure }
	w.annotate(t, "true")
	if _, err := w.pass(t); !errors.Is(err, failure) {
		t.Errorf("got error %v, want %v", err, failure)
	}
	want := pausedMessage + ". Suspending its schedules failed: the API server refuses"
	if got := meta.FindStatusCondition(w.get(t).Status.Conditions, vocabulary.ConditionPaused); got == nil || got.Message != want {
		t.Errorf("got %+v, want %q", got, want)
	}
}

func TestAPausedResourceCanBeDeleted(t *testing.T) {
	w := newWorld(t, someThing())
	if _, err := w.pass(t); err != nil {
		t.Fatal(err)
	}
	w.annotate(t, "true")
	if err := w.Delete(t.Context(), w.get(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.pass(t); err != nil {
		t.Fatal(err)
	}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(someThing()), &thing{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("it is still there (%v)", err)
	}
}
