package apiservice

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
)

// hibernation declares how a service hibernates: its API pods go, and its Jobs end.
func (c Controller[R, T]) hibernation() *controller.Hibernation[R, *tools[T]] {
	return &controller.Hibernation[R, *tools[T]]{
		Wanted: func(resource R) bool { return ptr.Deref(resource.ServiceSpec().Hibernation, false) },
		Busy: func(resource R) string {
			if status := resource.ServiceStatus(); status.UpgradePhase != "" {
				return "the upgrade to " + status.TargetRelease
			}
			return ""
		},
		Stops: []reconcile.Stoppable{{
			Object: &appsv1.Deployment{},
			Spec:   map[string]any{"replicas": 0},
			IsStopped: func(child client.Object) bool {
				deploy, ok := child.(*appsv1.Deployment)
				return ok && ptr.Deref(deploy.Spec.Replicas, 1) == 0
			},
		}},
		Running: c.running,
	}
}

// running returns a pod or a Job of the resource that has not ended, "" if there is none.
func (c Controller[R, T]) running(ctx context.Context, t *tools[T], resource R) (string, error) {
	ours, err := labels.NewRequirement(service.LabelName, selection.In, []string{c.Definition.CodeName, c.Definition.TaskName()})
	if err != nil {
		return "", fmt.Errorf("selecting what the %s runs: %w", c.Definition.Kind, err)
	}
	of := []client.ListOption{
		client.InNamespace(resource.GetNamespace()),
		client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(labels.Set{service.LabelInstance: resource.GetName()}).Add(*ours)},
	}
	readers := []client.Reader{t.Client}
	if !reconcile.IsHibernated(resource.GetConditions()) {
		// The cache may not show a Job yet that the last pass has created, and what it works on
		// stops next.
		readers = append(readers, t.APIReader)
	}
	for _, reader := range readers {
		if unended, err := job.Unended(ctx, reader, of...); unended != "" || err != nil {
			return unended, err
		}
	}
	var pods corev1.PodList
	if err := t.Client.List(ctx, &pods, of...); err != nil {
		return "", fmt.Errorf("listing the pods: %w", err)
	}
	for i := range pods.Items {
		if phase := pods.Items[i].Status.Phase; phase != corev1.PodSucceeded && phase != corev1.PodFailed {
			return "pod " + pods.Items[i].Name + " has not ended", nil
		}
	}
	return "", nil
}
