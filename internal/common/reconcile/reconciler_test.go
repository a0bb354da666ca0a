package reconcile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

var thingVersion = schema.GroupVersion{Group: "test.c5c3.io", Version: "v1"}

// thing is the smallest custom resource that the engine can run.
type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            thingStatus `json:"status"`
}

type thingStatus struct {
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Ready              bool               `json:"ready,omitempty"`
}

type thingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []thing `json:"items"`
}

func (t *thing) DeepCopyObject() runtime.Object {
	c := *t
	t.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Status.Conditions = slices.Clone(t.Status.Conditions)
	return &c
}

func (l *thingList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = slices.Clone(l.Items)
	return &c
}

func (t *thing) GetConditions() []metav1.Condition      { return t.Status.Conditions }
func (t *thing) SetConditions(c []metav1.Condition)     { t.Status.Conditions = c }
func (t *thing) SetObservedGeneration(generation int64) { t.Status.ObservedGeneration = generation }
func (t *thing) StatusCopy() any {
	return thingStatus{
		Conditions: slices.Clone(t.Status.Conditions), ObservedGeneration: t.Status.ObservedGeneration, Ready: t.Status.Ready,
	}
}

// world runs an engine with a single step whose outcome the test sets.
type world struct {
	client.Client
	reconciler   *Reconciler[*thing, *thing]
	recorder     *events.FakeRecorder
	outcome      Outcome
	guard        error
	statusWrites int
	statusError  error
	forgotten    []string
}

func newWorld(t *testing.T, obj *thing) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(thingVersion, &thing{}, &thingList{})
	metav1.AddToGroupVersion(scheme, thingVersion)
	w := &world{recorder: events.NewFakeRecorder(100), outcome: Done("Fine", "all well")}
	w.Client = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&thing{}).WithObjects(obj).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourceUpdate: func(
				ctx context.Context, c client.Client, sub string, obj client.Object, opts ...client.SubResourceUpdateOption,
			) error {
				w.statusWrites++
				if w.statusError != nil {
					return w.statusError
				}
				return c.SubResource(sub).Update(ctx, obj, opts...)
			},
		}).Build()
	step := Step[*thing]{
		Name: "Step", Condition: "StepReady", Announce: []string{"Fine"},
		Run: func(context.Context, *thing) Outcome { return w.outcome },
	}
	w.reconciler = &Reconciler[*thing, *thing]{
		Client: w.Client, Recorder: w.recorder,
		New:        func() *thing { return &thing{} },
		Guard:      func(*thing) error { return w.guard },
		Scope:      func(obj *thing) *thing { return obj },
		Pipeline:   Pipeline[*thing]{step},
		Finalizers: []Finalizer[*thing]{{Name: "test.c5c3.io/first", Step: step}, {Name: "test.c5c3.io/second", Step: step}},
		Forget:     func(name client.ObjectKey) { w.forgotten = append(w.forgotten, name.Name) },
	}
	return w
}

func someThing() *thing {
	return &thing{ObjectMeta: metav1.ObjectMeta{Name: "thing", Namespace: "default", Generation: 1}}
}

func (w *world) pass(t *testing.T) (ctrl.Result, error) {
	t.Helper()
	return w.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(someThing())})
}

func (w *world) get(t *testing.T) *thing {
	t.Helper()
	obj := &thing{}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(someThing()), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

func (w *world) events() []string {
	var seen []string
	for len(w.recorder.Events) > 0 {
		seen = append(seen, <-w.recorder.Events)
	}
	return seen
}

func TestAnUnchangedStatusIsNotWrittenAndAnnouncedAgain(t *testing.T) {
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

func TestFinalizersAreThereBeforeTheFirstStepRuns(t *testing.T) {
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

func TestWhatAnOutcomeAsksForFollows(t *testing.T) {
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

func TestAnOnNewsEventIsEmittedOnceForEachMessage(t *testing.T) {
	w := newWorld(t, someThing())
	for _, message := range []string{"all well", "held until noon", "held until noon", "held until one", "all well"} {
		w.outcome = Done("Fine", message)
		if message != "all well" {
			w.outcome = w.outcome.OnNews("Normal", "Held", message)
		}
		if _, err := w.pass(t); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"Normal Fine all well", "Normal Held held until noon", "Normal Held held until one"}
	if diff := cmp.Diff(want, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestAStopOfTheOperatorIsNoNewsButWhatItDidIs(t *testing.T) {
	w := newWorld(t, someThing())
	ctx, stop := context.WithCancel(t.Context())
	w.reconciler.Pipeline[0].Run = func(context.Context, *thing) Outcome {
		stop()
		return Done("Fine", "").WithEvent("Warning", "Late", "context canceled").WithNormalEvent("Rotated", "new keys")
	}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(someThing())}
	if _, err := w.reconciler.Reconcile(ctx, request); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Normal Rotated new keys", "Normal Fine "}, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestALostRaceIsNotReported(t *testing.T) {
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

func TestARaceThatIsLostAgainAndAgainIsRunLessAndLessOften(t *testing.T) {
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

func TestALostRaceDelaysNoOtherResource(t *testing.T) {
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

func TestDeletionReleasesItsStagesInOrderAndSaysWhatItWaitsFor(t *testing.T) {
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
