package conformance

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Obstruction is a foreign object with the name of an object that the operator creates.
type Obstruction struct {
	Object client.Object
	// Condition and Reason report it, and Stalled repeats the reason; any condition may report it
	// if they are empty.
	Condition, Reason string
	// Removed is called when the object is gone; it may be nil.
	Removed func()
}

// obstructed verifies that the objects are reported and never adopted, and that the resource
// converges once each of them is deleted after it was reported.
func (o *object[T]) obstructed(obstructions []Obstruction) {
	o.Helper()
	before := map[client.Object]*unstructured.Unstructured{}
	for _, obstruction := range obstructions {
		objects.Create(o.T, o.trial.Admin, obstruction.Object)
		before[obstruction.Object] = o.read(obstruction.Object)
	}
	o.Create()
	for left := slices.Clone(obstructions); len(left) > 0; {
		n := o.reported(left, before)
		for _, obstruction := range left {
			if diff := cmp.Diff(before[obstruction.Object].Object, o.read(obstruction.Object).Object); diff != "" {
				o.Errorf("%T %s of somebody else was changed (-before +after):\n%s", obstruction.Object, obstruction.Object.GetName(), diff)
			}
		}
		o.remove(left[n].Object)
		if left[n].Removed != nil {
			left[n].Removed()
		}
		left = slices.Delete(left, n, n+1)
	}
	o.Ready()
}

// read returns the object without what stand-ins may have written.
func (o *object[T]) read(obj client.Object) *unstructured.Unstructured {
	o.Helper()
	now := &unstructured.Unstructured{}
	gvk, err := o.trial.Admin.GroupVersionKindFor(obj)
	if err != nil {
		o.Fatal(err)
	}
	now.SetGroupVersionKind(gvk)
	now.SetNamespace(obj.GetNamespace())
	now.SetName(obj.GetName())
	expect.Exists(o.T, o.trial.Admin, now)
	for _, field := range [][]string{
		{"status"}, {"metadata", "managedFields"}, {"metadata", "resourceVersion"}, {"metadata", "finalizers"},
	} {
		unstructured.RemoveNestedField(now.Object, field...)
	}
	return now
}

// reported waits until a condition names one of the objects and a remedy, and returns which.
func (o *object[T]) reported(left []Obstruction, known map[client.Object]*unstructured.Unstructured) (n int) {
	o.Helper()
	what := make([]string, len(left))
	for n, obstruction := range left {
		what[n] = known[obstruction.Object].GetKind() + " " + obstruction.Object.GetName()
	}
	expect.Eventually(o.T, fmt.Sprintf("a condition that names one of %q", what), func(ctx context.Context) error {
		if err := o.trial.Admin.Get(ctx, client.ObjectKeyFromObject(o.Resource), o.Resource); err != nil {
			return err
		}
		n = slices.IndexFunc(left, func(obstruction Obstruction) bool {
			return o.reports(obstruction, known[obstruction.Object].GetKind())
		})
		if n < 0 {
			return errors.New(expect.State(o.T, o.trial.Admin, o.Resource))
		}
		return nil
	})
	if found := left[n]; found.Condition != "" {
		expect.Observed(o.trial.Admin, o.Resource, found.Condition, metav1.ConditionFalse, found.Reason)
		expect.Observed(o.trial.Admin, o.Resource, vocabulary.ConditionStalled, metav1.ConditionTrue, found.Reason)
	}
	return n
}

// reports reports whether the conditions name the object, of the kind, and wait for the user to act on it.
func (o *object[T]) reports(obstruction Obstruction, kind string) bool {
	stalled := meta.FindStatusCondition(o.Resource.GetConditions(), vocabulary.ConditionStalled)
	if obstruction.Condition != "" && (stalled == nil || stalled.Reason != obstruction.Reason) {
		return false
	}
	named := regexp.MustCompile(`(?i)\b` + kind + `\b`)
	return slices.ContainsFunc(o.Resource.GetConditions(), func(condition metav1.Condition) bool {
		expected := obstruction.Condition == "" || condition.Type == obstruction.Condition && condition.Reason == obstruction.Reason
		return expected && condition.Status == metav1.ConditionFalse && named.MatchString(condition.Message) &&
			strings.Contains(condition.Message, obstruction.Object.GetName()+" ") && strings.Contains(condition.Message, "rename or delete it")
	})
}

// remove deletes the object and waits until it is gone. The operator's own object may
// already exist.
func (o *object[T]) remove(obj client.Object) {
	o.Helper()
	now := o.read(obj)
	objects.Delete(o.T, o.trial.Admin, now.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground))
	expect.Eventually(o.T, fmt.Sprintf("%s %s is gone", now.GetKind(), now.GetName()), func(ctx context.Context) error {
		found := now.DeepCopy()
		err := o.trial.Admin.Get(ctx, client.ObjectKeyFromObject(now), found)
		if err == nil && found.GetUID() == now.GetUID() {
			return errors.New("it is there")
		}
		return client.IgnoreNotFound(err)
	})
}

// foreign verifies this for every child whose name does not depend on its content.
func (s suite[T]) foreign(t *testing.T) {
	t.Parallel()
	model := s.converged(t, s.fullest())
	i := s.prepared(t, s.fullest())
	var taken []Obstruction
	for _, child := range model.children() {
		if child.Hashed() || s.irreplaceable(child) {
			continue
		}
		taken = append(taken, Obstruction{Object: model.foreignCopy(i.namespace(), child), Removed: func() {
			// Foreign objects are not watched.
			objects.Change(t, s.Admin, i.Resource, func(r T) {
				r.SetAnnotations(map[string]string{"example.com/out-of-the-way": child.Kind + "-" + child.Name})
			})
		}})
	}
	model.Operator.Stop()
	i.obstructed(taken)
}

// foreignCopy returns an object of somebody else that has the name and the content of the
// child in another namespace.
func (i *Instance[T]) foreignCopy(namespace string, child children.Child) *unstructured.Unstructured {
	i.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(child.GroupVersionKind())
	object.SetNamespace(child.Namespace)
	object.SetName(child.Name)
	expect.Exists(i.T, i.Admin, object)
	object.Object["metadata"] = map[string]any{"name": child.Name, "namespace": namespace}
	unstructured.RemoveNestedField(object.Object, "status")
	// Fields that the API server sets on each object.
	for _, field := range [][]string{
		{"spec", "clusterIP"}, {"spec", "clusterIPs"}, {"spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"},
	} {
		unstructured.RemoveNestedField(object.Object, field...)
	}
	if child.Kind == "Job" {
		unstructured.RemoveNestedField(object.Object, "spec", "selector")
		unstructured.RemoveNestedField(object.Object, "spec", "template", "metadata", "labels")
	}
	return object
}
