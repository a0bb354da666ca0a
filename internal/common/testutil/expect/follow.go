package expect

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Changes are the states of an object from some moment on, including very short-lived
// ones, which polling misses on a busy machine.
type Changes struct {
	client client.Client
	object client.Object
	states watch.Interface
}

// Follow watches an object, which need not exist yet, until the test ends.
func Follow(t testing.TB, cfg *rest.Config, c client.Client, obj client.Object) *Changes {
	t.Helper()
	gvk, err := c.GroupVersionKindFor(obj)
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := client.NewWithWatch(cfg, client.Options{Scheme: c.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	states, err := watcher.Watch(t.Context(), list,
		client.InNamespace(obj.GetNamespace()), client.MatchingFields{"metadata.name": obj.GetName()})
	if err != nil {
		t.Fatalf("watch %s: %v", describe(c, obj), err)
	}
	t.Cleanup(states.Stop)
	return &Changes{client: c, object: obj, states: states}
}

// Condition waits until the object has had the condition with the status, the
// reason and all the given parts in its message. States up to the one that is
// found are consumed.
func (c *Changes) Condition(
	t testing.TB, conditionType string, status metav1.ConditionStatus, reason string, says ...string,
) {
	t.Helper()
	of := describe(c.client, c.object)
	late := time.After(Timeout)
	for {
		select {
		case state := <-c.states.ResultChan():
			obj, ok := state.Object.(client.Object)
			if !ok {
				t.Fatalf("%s: the watch ended with %+v", of, state)
			}
			conditions, err := Conditions(obj)
			if err != nil {
				t.Fatal(err)
			}
			if compare(meta.FindStatusCondition(conditions, conditionType), status, reason, says, obj.GetGeneration()) == nil {
				Observed(c.client, c.object, conditionType, status, reason)
				return
			}
		case <-late:
			t.Fatalf("%s: %s was never %s/%s with %q within %s", of, conditionType, status, reason, says, Timeout)
		}
	}
}

// Values counts the successive values of a field up to the current state of the object.
func (c *Changes) Values(t testing.TB, field ...string) (n int) {
	t.Helper()
	Exists(t, c.client, c.object)
	of := describe(c.client, c.object)
	late := time.After(Timeout)
	var last any
	for seen := ""; seen != c.object.GetResourceVersion(); {
		select {
		case state := <-c.states.ResultChan():
			obj, ok := state.Object.(*unstructured.Unstructured)
			if !ok {
				t.Fatalf("%s: the watch ended with %+v", of, state)
			}
			value, _, err := unstructured.NestedFieldNoCopy(obj.Object, field...)
			if err != nil {
				t.Fatalf("%s: %v", of, err)
			}
			if n == 0 || !equality.Semantic.DeepEqual(value, last) {
				last, n = value, n+1
			}
			seen = obj.GetResourceVersion()
		case <-late:
			t.Fatalf("%s: its current state was not seen within %s", of, Timeout)
		}
	}
	return n
}
