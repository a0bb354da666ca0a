package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// pauseManager is the field manager of the annotation that pauses the resources below a
// paused one. A user who pauses one of them has an annotation of the same name, which stays.
const pauseManager = "forge-pause"

// suspend suspends the CronJobs of a paused resource, and pauses the resources that it controls
// and that operators of this repository work on.
func (c Controller[R, T, S]) suspend(ctx context.Context, access kube.Access, resource R) error {
	if err := c.suspendCronJobs(ctx, access, resource); err != nil {
		return err
	}
	return c.eachOurs(ctx, access, resource, func(child client.Object) error {
		if vocabulary.IsPaused(child) {
			return nil
		}
		return apply.Fields(ctx, access.ThirdParty, child, map[string]any{"metadata": map[string]any{
			"annotations": map[string]string{vocabulary.AnnotationPaused: "true"},
		}}, pauseManager)
	})
}

// suspendCronJobs suspends the CronJobs of a resource until a pass over it corrects them.
func (c Controller[R, T, S]) suspendCronJobs(ctx context.Context, access kube.Access, resource R) error {
	scheduled := func(kind client.Object) bool { _, is := kind.(*batchv1.CronJob); return is }
	return c.each(ctx, access, resource, scheduled, func(child client.Object) error {
		cronJob, ok := child.(*batchv1.CronJob)
		if !ok || ptr.Deref(cronJob.Spec.Suspend, false) {
			return nil
		}
		before := cronJob.DeepCopy()
		cronJob.Spec.Suspend = ptr.To(true)
		return apply.Merge(ctx, access.Client, before, cronJob, "suspending")
	})
}

// resume withdraws the annotations that suspend has set. The pass corrects the CronJobs.
func (c Controller[R, T, S]) resume(ctx context.Context, access kube.Access, resource R) error {
	return c.eachOurs(ctx, access, resource, func(child client.Object) error { return c.resumeChild(ctx, access, child) })
}

func (c Controller[R, T, S]) resumeChild(ctx context.Context, access kube.Access, child client.Object) error {
	if !vocabulary.IsPaused(child) {
		return nil
	}
	return apply.Fields(ctx, access.ThirdParty, child, nil, pauseManager)
}

// eachOurs calls do for each object that the resource controls and that an operator of this
// repository works on.
func (c Controller[R, T, S]) eachOurs(ctx context.Context, access kube.Access, resource R, do func(client.Object) error) error {
	return c.each(ctx, access, resource, func(kind client.Object) bool { _, ours := kind.(reconcile.Object); return ours }, do)
}

// each calls do for each object of the selected kinds that the resource controls.
func (c Controller[R, T, S]) each(
	ctx context.Context, access kube.Access, resource R, selected func(kind client.Object) bool, do func(client.Object) error,
) error {
	for _, kind := range c.Kinds {
		if !kind.written() || !selected(kind.Object) {
			continue
		}
		children, err := kind.controlled(ctx, access, resource)
		if err != nil {
			return err
		}
		for _, child := range children {
			if err := do(child); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

// controlled lists the objects of the kind that the resource controls, none if the kind is not
// installed.
func (k Kind) controlled(ctx context.Context, access kube.Access, resource client.Object) ([]client.Object, error) {
	gvk, err := apiutil.GVKForObject(k.Object, access.Scheme)
	if err != nil || k.Optional && !access.Kinds.Served(gvk) {
		return nil, err
	}
	made, err := access.Scheme.New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err != nil {
		return nil, err
	}
	list, ok := made.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%T is no list", made)
	}
	if err := access.ThirdParty.List(ctx, list, client.InNamespace(resource.GetNamespace())); err != nil {
		return nil, fmt.Errorf("listing the objects of kind %s: %w", gvk.Kind, err)
	}
	var found []client.Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		if child, ok := item.(client.Object); ok && metav1.IsControlledBy(child, resource) {
			found = append(found, child)
		}
		return nil
	})
	return found, err
}
