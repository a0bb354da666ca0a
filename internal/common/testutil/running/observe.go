package running

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// Pass makes one pass over the resource in the caller's goroutine.
func (o *Operator) Pass(ctx context.Context, resource client.ObjectKey) error {
	o.passes.mu.Lock()
	reconciler := o.passes.reconciler
	o.passes.mu.Unlock()
	_, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: resource})
	return err
}

// Passes returns how many passes the operator has finished.
func (o *Operator) Passes() int {
	o.passes.mu.Lock()
	defer o.passes.mu.Unlock()
	return o.passes.ended
}

// Passed waits for the end of a pass over the resource that began when the operator's
// cache had this version of the trigger, and therefore all earlier changes of objects of its
// kind.
func (o *Operator) Passed(t testing.TB, resource client.ObjectKey, trigger client.Object) {
	t.Helper()
	expect.Eventually(t, "a pass after a change of "+trigger.GetName(), func(context.Context) error {
		o.passes.mu.Lock()
		defer o.passes.mu.Unlock()
		return reached(o.passes.began[resource], trigger.GetResourceVersion())
	})
}

// Sees waits until the operator's cache has this version of the object or a later one:
// every pass that begins afterwards uses it.
func (o *Operator) Sees(t testing.TB, obj client.Object) {
	t.Helper()
	expect.Eventually(t, fmt.Sprintf("the operator sees the state of %T %s", obj, obj.GetName()), func(ctx context.Context) error {
		o.passes.mu.Lock()
		cache := o.passes.cache
		o.passes.mu.Unlock()
		if cache == nil {
			return errors.New("the operator has no cache yet")
		}
		known := obj.DeepCopyObject().(client.Object)
		if err := cache.Get(ctx, client.ObjectKeyFromObject(obj), known); err != nil {
			return err
		}
		return reached(known.GetResourceVersion(), obj.GetResourceVersion())
	})
}

// reached returns nil if the version is the wanted one or a later one.
func reached(version, wanted string) error {
	if version == "" {
		return errors.New("it does not know of it yet")
	}
	order, err := resourceversion.CompareResourceVersion(version, wanted)
	if err == nil && order < 0 {
		err = fmt.Errorf("it knows of version %s, expected %s", version, wanted)
	}
	return err
}

// Announced returns how often the operator has emitted each event, such as "Normal
// Rotated", about objects of the type of about. Unlike the events in the API server it is complete at the end of each pass,
// and therefore shows which events were not emitted.
func (o *Operator) Announced(about client.Object) map[string]int {
	o.announced.mu.Lock()
	defer o.announced.mu.Unlock()
	counts := map[string]int{}
	maps.Copy(counts, o.announced.counts[reflect.TypeOf(about)])
	return counts
}

// Trigger returns the object whose change causes a pass over the resource.
func (o *Operator) Trigger(resource client.ObjectKey) client.Object {
	return o.passes.trigger(resource)
}
