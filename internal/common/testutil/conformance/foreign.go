package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
)

// foreign verifies that a foreign object with the name of a child is reported and never
// adopted, for every child whose name does not depend on its content.
func (s suite[T]) foreign(t *testing.T) {
	t.Parallel()
	model := s.converged(t, managed)
	i := s.prepared(t, managed)
	var taken []*unstructured.Unstructured
	for _, child := range model.children() {
		if !child.Hashed() && !s.irreplaceable(child) {
			taken = append(taken, model.occupy(i, child))
		}
	}
	model.Operator.Stop()
	i.Create()
	for len(taken) > 0 {
		named := i.obstacle(taken)
		var left []*unstructured.Unstructured
		for _, object := range taken {
			i.untouched(object)
			if object != named {
				left = append(left, object)
			}
		}
		i.remove(named)
		// Foreign objects are not watched.
		objects.Change(t, s.Admin, i.Resource, func(r T) {
			r.SetAnnotations(map[string]string{"example.com/out-of-the-way": named.GetKind() + "-" + named.GetName()})
		})
		taken = left
	}
	i.Ready()
}

// occupy creates a foreign object under the name that the child of the model has in the
// instance.
func (i *Instance[T]) occupy(in *Instance[T], child children.Child) *unstructured.Unstructured {
	i.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(child.GroupVersionKind())
	object.SetNamespace(child.Namespace)
	object.SetName(child.Name)
	expect.Exists(i.T, i.Admin, object)
	object.Object["metadata"] = map[string]any{"name": child.Name, "namespace": in.namespace()}
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
	objects.Create(i.T, i.Admin, object)
	return object
}

// remove deletes the object and waits until it is gone. The operator's own object may
// already exist.
func (i *Instance[T]) remove(object *unstructured.Unstructured) {
	i.Helper()
	objects.Delete(i.T, i.Admin, object.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground))
	expect.Eventually(i.T, object.GetKind()+" "+object.GetName()+" is gone", func(ctx context.Context) error {
		now := object.DeepCopy()
		err := i.Admin.Get(ctx, client.ObjectKeyFromObject(object), now)
		if err == nil && now.GetUID() == object.GetUID() {
			return errors.New("it is there")
		}
		return client.IgnoreNotFound(err)
	})
}

// obstacle waits until a condition names one of the objects and a remedy.
func (i *Instance[T]) obstacle(taken []*unstructured.Unstructured) (named *unstructured.Unstructured) {
	i.Helper()
	what := make([]string, len(taken))
	for n, object := range taken {
		what[n] = object.GetKind() + " " + object.GetName()
	}
	expect.Eventually(i.T, fmt.Sprintf("a condition that names one of %q", what), func(ctx context.Context) error {
		if err := i.Admin.Get(ctx, client.ObjectKeyFromObject(i.Resource), i.Resource); err != nil {
			return err
		}
		for _, condition := range i.Resource.GetConditions() {
			for _, object := range taken {
				names := strings.Contains(strings.ToLower(condition.Message), strings.ToLower(object.GetKind())) &&
					strings.Contains(condition.Message, object.GetName()+" ")
				if names && condition.Status == metav1.ConditionFalse && strings.Contains(condition.Message, "rename or delete it") {
					named = object
					return nil
				}
			}
		}
		return errors.New(expect.State(i.T, i.Admin, i.Resource))
	})
	return named
}

// untouched fails the test if the operator has changed the object in any way. Stand-ins
// may have written its status.
func (i *Instance[T]) untouched(object *unstructured.Unstructured) {
	i.Helper()
	now := object.DeepCopy()
	expect.Exists(i.T, i.Admin, now)
	before := object.DeepCopy()
	for _, o := range []*unstructured.Unstructured{before, now} {
		unstructured.RemoveNestedField(o.Object, "status")
		unstructured.RemoveNestedField(o.Object, "metadata", "managedFields")
		unstructured.RemoveNestedField(o.Object, "metadata", "resourceVersion")
		unstructured.RemoveNestedField(o.Object, "metadata", "finalizers")
	}
	if diff := cmp.Diff(before.Object, now.Object); diff != "" {
		i.Errorf("%s %s of somebody else was changed (-before +after):\n%s", object.GetKind(), object.GetName(), diff)
	}
}
