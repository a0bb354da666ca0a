// Package deployment builds the pods of an API service and the objects around them,
// applies Deployments, and reports when a rollout has ended.
package deployment

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// handoverManager owns the replica count after the operator has stopped setting it and
// before the autoscaler scales for the first time.
const handoverManager = apply.FieldManager + "-handover"

// EnsureDeployment applies the Deployment and reports whether its rollout has ended. If
// spec.replicas is nil, the live replica count is left to the autoscaler. The selector is
// immutable in the API, so a changed one replaces the Deployment and its pods.
func EnsureDeployment(
	ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, deploy *appsv1.Deployment,
) (bool, error) {
	live, err := apply.Find(ctx, c, client.ObjectKeyFromObject(deploy), &appsv1.Deployment{})
	switch {
	case err != nil:
		return false, err
	case live == nil:
	case metav1.IsControlledBy(live, owner) && !equality.Semantic.DeepEqual(live.Spec.Selector, deploy.Spec.Selector):
		return false, apply.Delete(ctx, c, live, client.PropagationPolicy(metav1.DeletePropagationBackground))
	default:
		if err := wake(ctx, c, live); err != nil {
			return false, err
		}
		if err := handOverReplicas(ctx, c, live, deploy); err != nil {
			return false, err
		}
	}
	if err := apply.EnsureObject(ctx, c, scheme, owner, deploy, apply.FieldManager); err != nil {
		return false, err
	}
	return IsDeploymentReady(deploy), nil
}

// wake starts one replica of a Deployment that was stopped because its resource hibernated, to
// which the apply or the autoscaler adds the others.
func wake(ctx context.Context, c client.Client, live *appsv1.Deployment) error {
	if live.Annotations[vocabulary.AnnotationHibernated] == "" {
		return nil
	}
	return apply.Fields(ctx, c, live, nil, vocabulary.HibernationManager)
}

// handOverReplicas preserves the live replica count when the operator stops setting it: a
// field that loses its only owner returns to its default, one. It starts one replica of a
// Deployment that the operator has stopped, to which the autoscaler adds the others.
func handOverReplicas(ctx context.Context, c client.Client, live, deploy *appsv1.Deployment) error {
	if deploy.Spec.Replicas != nil {
		return nil
	}
	version := appsv1.SchemeGroupVersion.String()
	owns, err := apply.Owns(live, apply.FieldManager, version, "spec", "replicas")
	if err != nil || !owns {
		return err
	}
	count := map[string]any{"spec": map[string]any{"replicas": max(ptr.Deref(live.Spec.Replicas, 1), 1)}}
	return apply.Fields(ctx, c, live, count, handoverManager)
}

// IsDeploymentReady reports whether the rollout of the current spec has ended: the
// controller has observed it, every replica is updated and available, and no pod of an
// older template is left.
func IsDeploymentReady(deploy *appsv1.Deployment) bool {
	status, wanted := deploy.Status, ptr.Deref(deploy.Spec.Replicas, 1)
	return status.ObservedGeneration >= deploy.Generation &&
		status.UpdatedReplicas == wanted &&
		status.Replicas == wanted &&
		status.AvailableReplicas == wanted &&
		status.ReadyReplicas >= wanted &&
		available(deploy)
}

func available(deploy *appsv1.Deployment) bool {
	for _, condition := range deploy.Status.Conditions {
		if condition.Type == appsv1.DeploymentAvailable {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Refusal returns the API server's error about pods of the Deployment that it rejects, ""
// if there is none.
func Refusal(deploy *appsv1.Deployment) string {
	for _, condition := range deploy.Status.Conditions {
		refused := condition.Type == appsv1.DeploymentReplicaFailure && condition.Reason == "FailedCreate"
		if refused && condition.Status == corev1.ConditionTrue {
			return condition.Message
		}
	}
	return ""
}

// Progress describes a rollout that has not ended.
func Progress(deploy *appsv1.Deployment) string {
	wanted := ptr.Deref(deploy.Spec.Replicas, 1)
	if deploy.Status.ObservedGeneration < deploy.Generation {
		return "waiting for the Deployment controller to see the new spec"
	}
	return fmt.Sprintf("%d of %d replicas updated, %d available, %d in total",
		deploy.Status.UpdatedReplicas, wanted, deploy.Status.AvailableReplicas, deploy.Status.Replicas)
}
