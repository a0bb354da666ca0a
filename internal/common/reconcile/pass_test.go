package reconcile

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

func TestAnUnchangedStatusCausesNoWriteAndNoEvent(t *testing.T) {
	w := newWorld(t, someThing())
	for range 3 {
		if _, err := w.pass(t); err != nil {
			t.Fatal(err)
		}
	}
	if w.statusWrites != 1 {
		t.Errorf("%d status writes in three equal passes, want 1", w.statusWrites)
	}
	if diff := cmp.Diff([]string{"Normal Fine all well"}, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if got := w.get(t); !meta.IsStatusConditionTrue(got.Status.Conditions, vocabulary.ConditionReady) || got.Status.ObservedGeneration != 1 {
		t.Errorf("status %+v, want Ready for generation 1", got.Status)
	}
}

func TestAnOutcomeDeterminesErrorRequeueAndEvent(t *testing.T) {
	transient := errors.New("the network is down")
	exactly := func(want time.Duration) func(time.Duration) bool {
		return func(got time.Duration) bool { return got == want }
	}
	never := exactly(0)
	safely := func(got time.Duration) bool { return got >= safetyNet && got <= 2*safetyNet }
	for name, test := range map[string]struct {
		outcome     Outcome
		wantError   error
		wantRequeue func(time.Duration) bool
		wantEvent   string
	}{
		"done":              {Done("Fine", "all well"), nil, never, "Normal Fine all well"},
		"done until a time": {Done("Fine", "all well").After(time.Hour), nil, exactly(time.Hour), "Normal Fine all well"},
		"waiting":           {Waiting("Later", "soon"), nil, safely, ""},
		"waiting until":     {Waiting("Later", "soon").After(time.Second), nil, exactly(time.Second), ""},
		"a transient error": {Failed("Broken", transient), transient, never, "Warning Broken the network is down"},
		"an error of the user": {
			Terminal("Wrong", errors.New("change it")), nil, never, "Warning Wrong change it",
		},
		"degraded": {
			Degraded("Off", "as you like").OnTransition("Warning", "TurnedOff", "note"), nil,
			never, "Warning TurnedOff note",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, someThing())
			w.outcome = test.outcome
			result, err := w.pass(t)
			if !errors.Is(err, test.wantError) || !test.wantRequeue(result.RequeueAfter) {
				t.Errorf("error %v, requeue after %s; want error %v", err, result.RequeueAfter, test.wantError)
			}
			if got := strings.Join(w.events(), "|"); got != test.wantEvent {
				t.Errorf("events %q, want %q", got, test.wantEvent)
			}
			if w.statusWrites != 1 {
				t.Errorf("%d status writes, want 1", w.statusWrites)
			}
		})
	}
}

func TestAnInvalidSpecStopsEverythingElse(t *testing.T) {
	w := newWorld(t, someThing())
	w.guard = errors.New("spec.replicas: must be at least 1")
	w.reconciler.Pipeline[0].Run = func(context.Context, *thing) Outcome {
		t.Error("a step ran on an invalid spec")
		return Done("Fine", "")
	}
	if _, err := w.pass(t); err != nil {
		t.Fatal(err)
	}
	got := w.get(t).Status.Conditions
	ready := meta.FindStatusCondition(got, vocabulary.ConditionReady)
	if ready == nil || ready.Reason != vocabulary.ReasonInvalidSpec || !strings.Contains(ready.Message, "spec.replicas") ||
		!meta.IsStatusConditionTrue(got, vocabulary.ConditionStalled) {
		t.Errorf("conditions %v, want Ready=False/InvalidSpec and Stalled", got)
	}
}

func TestReadyReportsSpecValuesThatAreNoLongerAccepted(t *testing.T) {
	w := newWorld(t, someThing())
	outdated := "spec.size is too large"
	w.reconciler.Outdated = func(*thing) string { return outdated }
	for _, test := range []struct {
		outcome       Outcome
		remark, want  string
		status        metav1.ConditionStatus
		statusWritten bool
	}{
		{Done("Fine", ""), outdated, "All sub-resources are ready. spec.size is too large", metav1.ConditionTrue, true},
		{Done("Fine", ""), outdated, "All sub-resources are ready. spec.size is too large", metav1.ConditionTrue, false},
		{Degraded("Bad", "no"), outdated, "Not ready: StepReady (Bad: no). spec.size is too large", metav1.ConditionFalse, true},
		{Done("Fine", ""), "", "All sub-resources are ready", metav1.ConditionTrue, true},
	} {
		w.outcome, outdated = test.outcome, test.remark
		before := w.statusWrites
		if _, err := w.pass(t); err != nil {
			t.Fatal(err)
		}
		ready := meta.FindStatusCondition(w.get(t).Status.Conditions, vocabulary.ConditionReady)
		if ready == nil || ready.Message != test.want || ready.Status != test.status {
			t.Errorf("got %+v, want %s: %q", ready, test.status, test.want)
		}
		if written := w.statusWrites > before; written != test.statusWritten {
			t.Errorf("with %q the status was written: %t, want %t", test.want, written, test.statusWritten)
		}
	}
}

func TestEachPassWritesTheStatusThatItChanges(t *testing.T) {
	w := newWorld(t, someThing())
	for generation := range int64(3) {
		obj := w.get(t)
		obj.Generation = generation + 1
		if err := w.Update(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		for _, message := range []string{"soon", "sooner"} {
			w.outcome = Waiting("Later", message)
			if _, err := w.pass(t); err != nil {
				t.Fatal(err)
			}
			status := w.get(t).Status
			step := meta.FindStatusCondition(status.Conditions, "StepReady")
			if step == nil || step.Message != message || status.ObservedGeneration != generation+1 {
				t.Errorf("got %+v about generation %d, want %q about %d", step, status.ObservedGeneration, message, generation+1)
			}
		}
	}
}
