package conformance

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// RunKind verifies that a kind conforms to what every kind has to do.
func RunKind[T reconcile.Object](t *testing.T, k Kind[T], w *World) {
	s := Trial[T]{k, w}
	parallel := func(name string, run func(*testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
	parallel("converges and then rests", func(t *testing.T) { s.converged(t).rests() })
	if k.Drifts != nil {
		parallel("repairs drift", func(t *testing.T) { s.converged(t).putsRight(k.Drifts) })
	}
	if k.Obstructions != nil {
		parallel("adopts no foreign object", func(t *testing.T) {
			o := s.prepared(t)
			o.obstructed(k.Obstructions(t, o.namespace()))
		})
	}
	parallel("leaves a paused resource alone", s.paused)
	if k.Hibernation != nil {
		parallel("hibernates and wakes", s.Hibernates)
	}
	t.Run("names a refused call and repeats it", func(t *testing.T) {
		for _, refusal := range k.Refusals {
			t.Run(refusal.Verb+" "+refusal.Resource+" "+refusal.Name, func(t *testing.T) {
				t.Parallel()
				s.refused(t, refusal, func(*object[T]) {})
			})
		}
	})
	parallel("an operator killed at any write converges after its restart", func(t *testing.T) {
		crashwalk.Walk(t, s.Way(transport.KillAfter))
	})
	parallel("a failed API call only delays the operator", func(t *testing.T) {
		way := s.failedCalls()
		way.Long = true
		crashwalk.Walk(t, way)
	})
	if k.DeletionWrites != nil {
		parallel("an operator killed during a deletion finishes it after its restart", func(t *testing.T) {
			crashwalk.Walk(t, s.Deletion())
		})
	}
}

// failedCalls is the walk of a new resource with an API server that fails each call once.
func (s Trial[T]) failedCalls() crashwalk.Scenario[any] {
	way := s.Way(transport.Conflict, transport.TooManyRequests, transport.InternalError, transport.Timeout)
	way.EveryCall = true
	return way
}

// rests verifies what can be observed of a converged resource that is left alone.
func (o *object[T]) rests() {
	for _, proof := range []struct {
		name string
		run  func(*object[T])
	}{
		{"every condition is true", (*object[T]).conditions},
		{"a pass makes no request", (*object[T]).quiet},
		{"the status is written rarely", (*object[T]).statusWrites},
		{"events mark transitions only", (*object[T]).events},
		{"each declared kind is watched once and no other", (*object[T]).watches},
		{"a restarted operator writes nothing", (*object[T]).restarts},
	} {
		o.Run(proof.name, func(t *testing.T) { proof.run(o.with(t)) })
	}
}

func (o *object[T]) conditions() {
	for _, condition := range o.trial.positive() {
		reason, found := o.trial.Reasons[condition.Type]
		if !found {
			reason = condition.True[0]
		}
		o.Condition(condition.Type, metav1.ConditionTrue, reason)
	}
	for _, condition := range o.Resource.GetConditions() {
		if condition.Status != metav1.ConditionTrue || condition.ObservedGeneration != o.Resource.GetGeneration() {
			o.Errorf("%s is %s, about generation %d of %d",
				condition.Type, condition.Status, condition.ObservedGeneration, o.Resource.GetGeneration())
		}
	}
	for _, conditionType := range abnormal {
		if left := meta.FindStatusCondition(o.Resource.GetConditions(), conditionType); left != nil {
			o.Errorf("left over from the way to Ready: %+v", left)
		}
	}
}

func (o *object[T]) quiet() {
	o.settle()
	for range 5 {
		if requests := o.pass(); len(requests) > 0 {
			o.Errorf("a pass took %d requests:\n%s", len(requests), requests)
		}
	}
}

func (o *object[T]) statusWrites() {
	writes := o.Operator.Requests.All().Needed().Writes()
	status := "update " + o.resource() + "/status"
	times := len(writes.Filter(func(r transport.Request) bool { return r.Kind().String() == status }))
	if times < 1 || times > o.trial.StatusWrites {
		o.Errorf("%d times %s, expected at most %d of\n%s", times, status, o.trial.StatusWrites, writes)
	}
}

// resource returns the resource of the kind, as in "jobs.batch".
func (o *object[T]) resource() string {
	o.Helper()
	gvk, err := o.trial.Admin.GroupVersionKindFor(o.Resource)
	if err != nil {
		o.Fatal(err)
	}
	return o.trial.resource(o.T, gvk)
}

func (o *object[T]) events() {
	want := map[string]int{}
	for _, event := range o.trial.Events {
		want[event] = 1
	}
	if diff := cmp.Diff(want, o.Operator.Announced(o.Resource)); diff != "" {
		o.Errorf("announced (-want +got):\n%s", diff)
	}
	for event := range want {
		o.event(event, 1)
	}
}

// watches verifies that all watched objects are declared and in memory once: a second watch of
// a kind keeps them twice.
func (o *object[T]) watches() {
	want := map[string]int{}
	for _, resource := range o.trial.Watches {
		want[resource] = 1
	}
	watching := o.Operator.Requests.Watching()
	maps.DeleteFunc(watching, func(_ string, open int) bool { return open == 0 })
	if diff := cmp.Diff(want, watching); diff != "" {
		o.Errorf("open watches by kind (-declared +open):\n%s", diff)
	}
}

func (o *object[T]) restarts() {
	before := o.copied()
	expect.Exists(o.T, o.trial.Admin, client.Object(before))
	o.restart()
	o.settle()
	if writes := o.Operator.Requests.All().Writes(); len(writes) > 0 {
		o.Errorf("a restart took %d writes:\n%s", len(writes), writes)
	}
	if events := o.Operator.Announced(o.Resource); len(events) > 0 {
		o.Errorf("a restart was announced: %v", events)
	}
	expect.Exists(o.T, o.trial.Admin, client.Object(o.Resource))
	if diff := cmp.Diff(before.StatusCopy(), o.Resource.StatusCopy()); diff != "" {
		o.Errorf("status (-before +after the restart):\n%s", diff)
	}
}

// putsRight makes the changes, one after the other, and wants each field back.
func (o *object[T]) putsRight(drifts []Drift) {
	o.Helper()
	for _, drift := range drifts {
		obj := drift.of(o.namespace())
		o.unlessFailed(drift.what, func(t *testing.T) {
			expect.Exists(t, o.trial.Admin, obj)
			want := drift.read(obj.DeepCopyObject().(client.Object))
			objects.Change(t, o.trial.Admin, obj, drift.spoil)
			expect.Object(t, o.trial.Admin, obj, func() error {
				if diff := cmp.Diff(want, drift.read(obj)); diff != "" {
					return fmt.Errorf("(-want +got):\n%s", diff)
				}
				return nil
			})
			o.with(t).Ready()
		})
	}
	if o.Failed() {
		return
	}
	// What the operator takes for drift although it is none would be written in each pass.
	o.settle()
}

// refused verifies that a call that the API server refuses is reported and retried. meanwhile
// checks the rest of what the operator does until then.
func (s Trial[T]) refused(t *testing.T, refusal Refusal, meanwhile func(*object[T])) {
	refusals := &transport.Refusals{}
	world := *s.World
	world.AsOperator = refusals.Config(s.AsOperator)
	o := Trial[T]{s.Kind, &world}.prepared(t)
	allow := refusals.Refuse(refusal.refuses)
	o.Create()
	o.Fails(refusal.Condition, refusal.Reason, refusal.Name, refusal.Verb+" "+refusal.Resource, transport.ErrInjected.Error())
	if refusal.Condition != vocabulary.ConditionReady {
		o.Fails(vocabulary.ConditionReady, vocabulary.ReasonNotAllReady, refusal.Condition)
	}
	meanwhile(o)
	allow()
	o.Ready()
}
