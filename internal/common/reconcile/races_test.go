package reconcile

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAConflictIsRetriedWithoutAReport(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "thing", errors.New("changed"))
	w := newWorld(t, someThing())
	w.outcome = Failed("Broken", conflict)
	result, err := w.pass(t)
	if err != nil || result.RequeueAfter == 0 || w.statusWrites != 0 {
		t.Errorf("error %v, requeue after %s, %d status writes; want another pass at once and no report",
			err, result.RequeueAfter, w.statusWrites)
	}
	w.outcome, w.statusError = Done("Fine", ""), conflict
	result, err = w.pass(t)
	if err != nil || result.RequeueAfter == 0 || len(w.events()) != 0 {
		t.Errorf("error %v, requeue after %s; want another pass at once and no event", err, result.RequeueAfter)
	}
}

func TestRepeatedConflictsAreRetriedWithBackoff(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "thing", errors.New("changed"))
	w := newWorld(t, someThing())
	retry := func() time.Duration {
		t.Helper()
		result, err := w.pass(t)
		if err != nil {
			t.Fatal(err)
		}
		return result.RequeueAfter
	}
	lose := map[string]func(){
		"a step":           func() { w.outcome, w.statusError = Failed("Broken", conflict), nil },
		"the status write": func() { w.outcome, w.statusError = Done("Fine", ""), conflict },
	}
	for name, lost := range lose {
		lost()
		first := retry()
		if first != raceRetry {
			t.Errorf("%s loses a race for the first time: the next pass comes after %s, want %s", name, first, raceRetry)
		}
		last := first
		for range 20 {
			next := retry()
			if next < 2*last && next != raceRetryMax {
				t.Fatalf("%s loses again: the next pass comes after %s, and before after %s", name, next, last)
			}
			last = next
		}
		if last != raceRetryMax {
			t.Errorf("%s always loses: a pass comes every %s, want %s", name, last, raceRetryMax)
		}
		w.outcome, w.statusError = Done("Fine", name), nil
		if again := retry(); again != 0 {
			t.Errorf("a pass without a conflict is followed by another one after %s", again)
		}
	}
}

func TestConflictBackoffIsPerResource(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "thing", errors.New("changed"))
	w := newWorld(t, someThing())
	other := someThing()
	other.Name = "other"
	if err := w.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	w.outcome = Failed("Broken", conflict)
	for range 5 {
		if _, err := w.pass(t); err != nil {
			t.Fatal(err)
		}
	}
	result, err := w.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(other)})
	if err != nil || result.RequeueAfter != raceRetry {
		t.Errorf("error %v, requeue after %s; want %s as for any first lost race", err, result.RequeueAfter, raceRetry)
	}
}
