package conformance

import (
	"context"
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// object is a resource of any kind in its own namespace, with an operator for that namespace.
type object[T reconcile.Object] struct {
	*testing.T
	trial Trial[T]
	// Resource is the resource as it was last read.
	Resource T
	// Operator is the operator of the namespace, API the API that it probes.
	Operator *running.Operator
	API      *running.API
}

// start starts a new operator.
func (o *object[T]) start() {
	o.Helper()
	o.API = &running.API{}
	o.Operator = running.Start(o.T, o.trial.Program, o.trial.AsOperator, o.namespace(), o.trial.options(o.API))
}

// with returns the object for a subtest.
func (o *object[T]) with(t *testing.T) *object[T] {
	inner := *o
	inner.T = t
	return &inner
}

func (o *object[T]) namespace() string { return o.Resource.GetNamespace() }

func (o *object[T]) name() string { return o.Resource.GetName() }

// Create creates the resource in the cluster.
func (o *object[T]) Create() {
	o.Helper()
	if err := o.trial.create(o.Context(), o.Resource); err != nil {
		o.Fatalf("create %s: %v", o.name(), err)
	}
}

// Condition waits for a condition of the resource.
func (o *object[T]) Condition(conditionType string, status metav1.ConditionStatus, reason string, says ...string) {
	o.Helper()
	expect.Condition(o.T, o.trial.Admin, o.Resource, conditionType, status, reason, says...)
}

// Fails waits until a condition is False.
func (o *object[T]) Fails(conditionType, reason string, says ...string) {
	o.Helper()
	o.Condition(conditionType, metav1.ConditionFalse, reason, says...)
}

// Ready waits until every condition of the resource is True, including those on which
// Ready does not depend: after that nothing is in progress any more.
func (o *object[T]) Ready() {
	o.Helper()
	expect.Object(o.T, o.trial.Admin, o.Resource, func() error { return o.trial.readyNow(o.Resource) })
	if o.trial.Settled != nil {
		expect.Eventually(o.T, "nothing left to do", func(ctx context.Context) error { return o.trial.Settled(ctx, o.namespace()) })
	}
}

// pass triggers a pass over the resource by a change that does not matter to the operator,
// and returns the requests of that pass. Discovery is left out, and so are events: they are
// written asynchronously, so those of an earlier pass may come late.
func (o *object[T]) pass() transport.Requests {
	o.Helper()
	key := client.ObjectKeyFromObject(o.Resource)
	before, trigger := o.Operator.Requests.Snapshot(), o.Operator.Trigger(key)
	objects.Annotate(o.T, o.trial.Admin, trigger, "example.com/touched", client.Object.GetResourceVersion)
	o.Operator.Passed(o.T, key, trigger)
	return o.Operator.Requests.Since(before).Filter(func(r transport.Request) bool { return r.Resource != "" && !r.Event() })
}

// settle triggers passes until one makes no request, when everything in progress at the
// time the resource became ready has finished.
func (o *object[T]) settle() {
	o.Helper()
	expect.Eventually(o.T, "a pass without a request", func(context.Context) error {
		if requests := o.pass(); len(requests) > 0 {
			return fmt.Errorf("the last pass took %d:\n%s", len(requests), requests)
		}
		return nil
	})
}

// restart restarts the operator, and waits until the new one has reconciled the resource
// and probed its API, which it does not do while the resource is paused.
func (o *object[T]) restart() {
	o.Helper()
	o.Operator.Stop()
	o.start()
	probes := o.trial.probe != nil && !vocabulary.IsPaused(o.Resource) && !reconcile.IsHibernated(o.Resource.GetConditions())
	expect.Eventually(o.T, "a pass and a health check by the restarted operator", func(context.Context) error {
		if o.Operator.Passes() == 0 || probes && len(o.API.Asked()) == 0 {
			return errors.New("there was none")
		}
		return nil
	})
}

func (o *object[T]) copied() T { return o.Resource.DeepCopyObject().(T) }

// unlessFailed runs a subtest unless one before it has failed. What stays spoilt would
// fail all later ones too, each only after a full wait, and together those outlast the
// time limit of the tests, which shows no message at all.
func (o *object[T]) unlessFailed(name string, run func(*testing.T)) {
	o.Helper()
	if !o.Failed() {
		o.Run(name, run)
	}
}

// event waits until an event, such as "Normal DatabaseSynced", has occurred that many
// times. The operator writes events asynchronously.
func (o *object[T]) event(event string, times int32) {
	o.Helper()
	expect.Eventually(o.T, fmt.Sprintf("%d times the event %s", times, event), func(context.Context) error {
		events := expect.Events(o.T, o.trial.Admin, o.Resource)
		var seen int32
		for _, e := range events {
			if e.Type+" "+e.Reason == event {
				seen += e.Count
			}
		}
		if seen != times {
			return fmt.Errorf("it was seen %d times among %+v", seen, events)
		}
		return nil
	})
}
