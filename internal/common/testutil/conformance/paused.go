package conformance

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func (s suite[T]) paused(t *testing.T) {
	t.Parallel()
	s.trial(t, s.fullest()).paused(t)
}

// paused verifies that the operator changes nothing of a paused resource but its condition
// Paused, works on it again once it is resumed, and lets it be deleted while it is paused.
func (s Trial[T]) paused(t *testing.T) {
	o := s.converged(t)
	o.settle()
	before := o.copied()
	o.pause("true")
	o.onlyPaused(before)
	o.leavesDrift()
	o.restarts()
	o.resumes()
	o.deletedPaused()
}

// pause gives the annotation that pauses the resource a value.
func (o *object[T]) pause(value string) {
	o.Helper()
	objects.Annotate(o.T, o.trial.Admin, o.Resource, vocabulary.AnnotationPaused, func(T) string { return value })
}

func (o *object[T]) onlyPaused(before T) {
	o.Condition(vocabulary.ConditionPaused, metav1.ConditionTrue, vocabulary.ReasonPaused, vocabulary.AnnotationPaused)
	o.suspended(true)
	o.settle()
	expect.Exists(o.T, o.trial.Admin, client.Object(o.Resource))
	now := o.copied()
	conditions := now.GetConditions()
	meta.RemoveStatusCondition(&conditions, vocabulary.ConditionPaused)
	now.SetConditions(conditions)
	if diff := cmp.Diff(before.StatusCopy(), now.StatusCopy()); diff != "" {
		o.Errorf("status (-before +while it is paused):\n%s", diff)
	}
	o.event("Normal "+vocabulary.EventPaused, 1)
}

// suspended waits until the CronJobs of the resource and the objects that are paused with it
// are suspended, or are not any more.
func (o *object[T]) suspended(want bool) {
	o.Helper()
	expect.Eventually(o.T, fmt.Sprintf("suspension is %t", want), func(ctx context.Context) error {
		var cronJobs batchv1.CronJobList
		if err := o.trial.Admin.List(ctx, &cronJobs, client.InNamespace(o.namespace())); err != nil {
			return err
		}
		for _, cronJob := range cronJobs.Items {
			if metav1.IsControlledBy(&cronJob, o.Resource) && ptr.Deref(cronJob.Spec.Suspend, false) != want {
				return fmt.Errorf("CronJob %s: %t", cronJob.Name, !want)
			}
		}
		for _, child := range o.trial.PausedWith {
			child = child.DeepCopyObject().(client.Object)
			child.SetNamespace(o.namespace())
			if err := o.trial.Admin.Get(ctx, client.ObjectKeyFromObject(child), child); err != nil {
				return err
			}
			if vocabulary.IsPaused(child) != want {
				return fmt.Errorf("%T %s: %t", child, child.GetName(), !want)
			}
		}
		return nil
	})
}

// leavesDrift changes owned objects and verifies that the changes stay.
func (o *object[T]) leavesDrift() {
	for _, drift := range o.trial.Drifts {
		obj := drift.of(o.namespace())
		expect.Exists(o.T, o.trial.Admin, obj)
		objects.Change(o.T, o.trial.Admin, obj, drift.spoil)
	}
	before := o.drifts()
	for range 3 {
		if requests := o.pass(); len(requests) > 0 {
			o.Errorf("a pass over a paused resource took %d requests:\n%s", len(requests), requests)
		}
	}
	if diff := cmp.Diff(before, o.drifts()); diff != "" {
		o.Errorf("changed objects (-before +after passes):\n%s", diff)
	}
}

// drifts returns the fields that drifts change.
func (o *object[T]) drifts() map[string]any {
	o.Helper()
	fields := map[string]any{}
	for _, drift := range o.trial.Drifts {
		obj := drift.of(o.namespace())
		expect.Exists(o.T, o.trial.Admin, obj)
		fields[fmt.Sprintf("%T %s: %s", obj, drift.name, drift.what)] = drift.read(obj)
	}
	return fields
}

func (o *object[T]) resumes() {
	o.pause("false")
	expect.Object(o.T, o.trial.Admin, o.Resource, func() error {
		if paused := meta.FindStatusCondition(o.Resource.GetConditions(), vocabulary.ConditionPaused); paused != nil {
			return fmt.Errorf("it is still %+v", paused)
		}
		return nil
	})
	o.suspended(false)
	o.Ready()
	o.settle()
	for _, drift := range o.trial.Drifts {
		obj := drift.of(o.namespace())
		expect.Exists(o.T, o.trial.Admin, obj)
		found := drift.read(obj)
		drift.spoil(obj)
		if cmp.Diff(drift.read(obj), found) == "" {
			o.Errorf("the %s of %T %s is not repaired: %v", drift.what, obj, drift.name, found)
		}
	}
	o.event("Normal "+vocabulary.EventResumed, 1)
}

func (o *object[T]) deletedPaused() {
	o.pause("true")
	o.Condition(vocabulary.ConditionPaused, metav1.ConditionTrue, vocabulary.ReasonPaused)
	objects.Delete(o.T, o.trial.Admin, client.Object(o.copied()))
	expect.Gone(o.T, o.trial.Admin, client.Object(o.copied()))
	if o.trial.Gone != nil {
		expect.Eventually(o.T, "what goes with the resource is gone", func(ctx context.Context) error { return o.trial.Gone(ctx, o.namespace()) })
	}
}
