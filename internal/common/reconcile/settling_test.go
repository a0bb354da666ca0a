package reconcile

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStatusChangesWithinASecondAreWrittenTogether(t *testing.T) {
	w := newWorld(t, someThing())
	now := time.Now()
	w.reconciler.clock = func() time.Time { return now }
	pass := func(after time.Duration, outcome Outcome, wantWrites int, wantRequeue time.Duration) {
		t.Helper()
		now, w.outcome = now.Add(after), outcome
		result, err := w.pass(t)
		if failed := outcome.Err(); !errors.Is(err, failed) || w.statusWrites != wantWrites || result.RequeueAfter != wantRequeue {
			t.Errorf("after %s: error %v, %d status writes, requeue after %s; want error %v, %d and %s",
				after, err, w.statusWrites, result.RequeueAfter, failed, wantWrites, wantRequeue)
		}
	}
	waiting := func(reason string) Outcome { return Waiting(reason, "soon").After(time.Hour) }
	pass(0, waiting("One"), 1, time.Hour)
	pass(300*time.Millisecond, waiting("Two"), 1, 700*time.Millisecond)
	// The status is back to what was written, so there is nothing to write.
	pass(100*time.Millisecond, waiting("One"), 1, time.Hour)
	pass(100*time.Millisecond, waiting("Three"), 1, 500*time.Millisecond)
	pass(500*time.Millisecond, waiting("Three"), 2, time.Hour)
	pass(100*time.Millisecond, waiting("Four").OnRecord("Normal", "Phase", "of an upgrade"), 3, time.Hour)
	pass(100*time.Millisecond, Failed("Broken", errors.New("the network is down")), 4, 0)
	pass(100*time.Millisecond, waiting("Refused").AtOnce(), 5, time.Hour)
	pass(100*time.Millisecond, Done("Fine", "all well"), 6, 0)
	pass(100*time.Millisecond, waiting("Five"), 7, time.Hour)
	want := []string{"Normal Phase of an upgrade", "Warning Broken the network is down", "Normal Fine all well"}
	if diff := cmp.Diff(want, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestTheFirstStatusOfAGenerationIsWrittenAtOnce(t *testing.T) {
	w := newWorld(t, someThing())
	for generation := range int64(3) {
		obj := w.get(t)
		obj.Generation = generation + 1
		if err := w.Update(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		w.outcome = Waiting("Later", "soon")
		if _, err := w.pass(t); err != nil {
			t.Fatal(err)
		}
		if got := w.get(t).Status.ObservedGeneration; got != generation+1 {
			t.Errorf("the status is about generation %d, want %d", got, generation+1)
		}
	}
}

func TestAddingARecomputedStatusFieldIsDeferred(t *testing.T) {
	w := newWorld(t, someThing())
	now := time.Now()
	w.reconciler.clock = func() time.Time { return now }
	w.reconciler.Recomputed = func(read *thing) func(*thing) {
		known := read.Status.Ready
		return func(later *thing) { later.Status.Ready = later.Status.Ready && known }
	}
	ready := false
	w.reconciler.Summarise = func(obj *thing) { obj.Status.Ready = ready }
	w.outcome = Waiting("One", "soon")
	pass := func(after time.Duration, found bool, wantWrites int) {
		t.Helper()
		now, ready = now.Add(after), found
		if _, err := w.pass(t); err != nil || w.statusWrites != wantWrites {
			t.Errorf("after %s: error %v, %d status writes, want %d", after, err, w.statusWrites, wantWrites)
		}
	}
	pass(0, false, 1)
	pass(100*time.Millisecond, true, 1)
	pass(time.Second, true, 2)
	// A value that has been written must never be missing.
	pass(100*time.Millisecond, false, 3)
}
