package reconcile

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// sleeper is a hibernation that a test controls.
type sleeper struct {
	wanted        bool
	busy, running string
	remarks       []string
	err           error
	woken         int
}

func (s *sleeper) of() *Hibernation[*thing] {
	return &Hibernation[*thing]{
		Wanted: func(*thing) bool { return s.wanted },
		Busy:   func(*thing) string { return s.busy },
		Stop:   func(context.Context, *thing) (string, []string, error) { return s.running, s.remarks, s.err },
		Wake:   func(context.Context, *thing) error { s.woken++; return s.err },
	}
}

// summary is the status, the reason and the message of each condition.
func summary(obj *thing) []string {
	var all []string
	for _, c := range obj.GetConditions() {
		all = append(all, c.Type+" "+string(c.Status)+" "+c.Reason+": "+c.Message)
	}
	return all
}

func TestAHibernatedResourceHasNoOtherCondition(t *testing.T) {
	w, s := newWorld(t, someThing()), &sleeper{}
	w.reconciler.Hibernation = s.of()
	forgotten := 0
	w.reconciler.Forget = func(types.NamespacedName) { forgotten++ }
	pass := func(want ...string) {
		t.Helper()
		if _, err := w.pass(t); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, summary(w.get(t))); diff != "" {
			t.Errorf("conditions (-want +got):\n%s", diff)
		}
	}
	pass("StepReady True Fine: all well", "Ready True AllReady: All sub-resources are ready")
	s.wanted, s.busy = true, "the upgrade to 2025.2"
	pass("StepReady True Fine: all well", "Ready True AllReady: All sub-resources are ready. It hibernates after the upgrade to 2025.2")
	s.busy, s.running = "", "pod a has not ended"
	pass("Ready False Hibernating: The resource hibernates once nothing of it runs: pod a has not ended")
	s.running, s.remarks = "", []string{"MariaDB b stays up"}
	pass("Ready False Hibernated: " + hibernatedMessage + ". MariaDB b stays up")
	writes := w.statusWrites
	pass("Ready False Hibernated: " + hibernatedMessage + ". MariaDB b stays up")
	if w.statusWrites != writes {
		t.Error("a pass over a hibernated resource wrote its status")
	}
	if forgotten == 0 {
		t.Error("the background still works on a hibernated resource")
	}
	s.wanted = false
	pass("StepReady True Fine: all well", "Ready True AllReady: All sub-resources are ready")
	want := []string{"Normal Fine all well", "Normal Hibernated Stopped by spec.hibernation", "Normal Fine all well"}
	if diff := cmp.Diff(want, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestReadyCountsItsTimeAnewAfterAHibernation(t *testing.T) {
	obj := someThing()
	long := metav1.NewTime(time.Unix(1_000_000, 0))
	obj.Status.Conditions = []metav1.Condition{{
		Type: vocabulary.ConditionReady, Status: metav1.ConditionFalse, Reason: vocabulary.ReasonHibernated, LastTransitionTime: long,
	}}
	w := newWorld(t, obj)
	w.outcome = Waiting("Bad", "starting")
	if _, err := w.pass(t); err != nil {
		t.Fatal(err)
	}
	ready := meta.FindStatusCondition(w.get(t).Status.Conditions, vocabulary.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.LastTransitionTime.Equal(&long) {
		t.Errorf("got %+v, want Ready False since now", ready)
	}
}

func TestAFailureToStopIsReportedAndRetried(t *testing.T) {
	w, s := newWorld(t, someThing()), &sleeper{wanted: true, err: errors.New("the API server refuses")}
	w.reconciler.Hibernation = s.of()
	if _, err := w.pass(t); !errors.Is(err, s.err) {
		t.Errorf("got error %v, want %v", err, s.err)
	}
	if diff := cmp.Diff([]string{"Ready False " + vocabulary.ReasonHibernating + ": the API server refuses"}, summary(w.get(t))); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestAHibernatedResourceWakesToBeDeleted(t *testing.T) {
	obj := someThing()
	obj.Finalizers = []string{"a"}
	now := metav1.Now()
	obj.DeletionTimestamp = &now
	// Also one whose spec.hibernation has just gone.
	for _, wanted := range []bool{false, true} {
		w, s := newWorld(t, obj.DeepCopyObject().(*thing)), &sleeper{wanted: wanted}
		w.reconciler.Hibernation = s.of()
		if _, err := w.pass(t); err != nil || s.woken != 1 {
			t.Errorf("spec.hibernation %t: woken %d times, error %v", wanted, s.woken, err)
		}
	}
}
