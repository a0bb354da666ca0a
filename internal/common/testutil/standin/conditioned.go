package standin

import (
	"context"
	"errors"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// conditioned simulates the controller of a kind whose state is a Ready condition.
type conditioned struct {
	kind schema.GroupVersionKind
	// finalizer is put on every object, if not empty.
	finalizer string
	// reason is the reason of Ready=True.
	reason string
	// work does what the real controller does before an object is ready; undo
	// reverts it before the finalizer is removed. Both may be nil.
	work, undo func(ctx context.Context, c client.Client, obj *unstructured.Unstructured) error
	// stamp adds to the status of an object that is ready. It may be nil.
	stamp  func(obj *unstructured.Unstructured) error
	script *script
}

func (k *conditioned) empty() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(k.kind)
	return u
}

func (k *conditioned) setup(mgr manager.Manager) error {
	return watch(mgr, strings.ToLower(k.kind.Kind), k.empty, k.script, k.act)
}

func (k *conditioned) act(ctx context.Context, c client.Client, obj *unstructured.Unstructured) error {
	outcome := k.script.outcome(obj)
	if outcome.kind == hang {
		return nil
	}
	if obj.GetDeletionTimestamp() != nil {
		return k.release(ctx, c, obj)
	}
	before := obj.DeepCopy()
	if k.finalizer != "" && controllerutil.AddFinalizer(obj, k.finalizer) {
		// The whole list is replaced, so the version guards against a lost update.
		if err := c.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return err
		}
	}
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: k.reason, Message: k.reason}
	err := errors.New(outcome.message)
	if outcome.kind == succeed {
		err = call(ctx, k.work, c, obj)
	}
	if err != nil {
		ready = metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Failed", Message: err.Error()}
	} else if replicas, found, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas"); found && replicas == 0 {
		ready = metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Stopped", Message: "no server runs"}
	}
	before = obj.DeepCopy()
	if err := setCondition(obj, ready); err != nil {
		return err
	}
	if k.stamp != nil && ready.Status == metav1.ConditionTrue {
		if err := k.stamp(obj); err != nil {
			return err
		}
	}
	return errors.Join(patchStatus(ctx, c, obj, before), notScripted(outcome, err))
}

// notScripted returns err unless the test has asked for a failure, so that only
// real failures are retried.
func notScripted(outcome Outcome, err error) error {
	if outcome.kind == succeed {
		return err
	}
	return nil
}

func (k *conditioned) release(ctx context.Context, c client.Client, obj *unstructured.Unstructured) error {
	before := obj.DeepCopy()
	if !controllerutil.RemoveFinalizer(obj, k.finalizer) {
		return nil
	}
	if err := call(ctx, k.undo, c, obj); err != nil {
		return err
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(c.Patch(ctx, obj, patch))
}

func call(
	ctx context.Context, f func(context.Context, client.Client, *unstructured.Unstructured) error,
	c client.Client, obj *unstructured.Unstructured,
) error {
	if f == nil {
		return nil
	}
	return f(ctx, c, obj)
}

// setCondition sets one condition in status.conditions of an object.
func setCondition(obj *unstructured.Unstructured, condition metav1.Condition) error {
	stored, _, err := unstructured.NestedSlice(obj.Object, "status", "conditions")
	if err != nil {
		return err
	}
	conditions := make([]metav1.Condition, len(stored))
	for i, s := range stored {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(s.(map[string]any), &conditions[i]); err != nil {
			return err
		}
	}
	meta.SetStatusCondition(&conditions, condition)
	stored = make([]any, len(conditions))
	for i := range conditions {
		if stored[i], err = runtime.DefaultUnstructuredConverter.ToUnstructured(&conditions[i]); err != nil {
			return err
		}
	}
	return unstructured.SetNestedSlice(obj.Object, stored, "status", "conditions")
}

// patchStatus updates the status of obj if it differs from that of before.
func patchStatus(ctx context.Context, c client.Client, obj, before client.Object) error {
	if apiequality.Semantic.DeepEqual(obj, before) {
		return nil
	}
	return client.IgnoreNotFound(c.Status().Patch(ctx, obj, client.MergeFrom(before)))
}
