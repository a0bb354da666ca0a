package reconcile

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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

func TestCancellationErrorsAreNotEmittedAsEventsAtShutdown(t *testing.T) {
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
