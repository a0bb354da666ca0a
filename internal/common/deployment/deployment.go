// Package deployment builds the pods of an API service and the objects around them,
// applies Deployments and Services, and reports when a rollout has ended.
package deployment

import (
	"context"
	"fmt"
	"slices"

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
		if err := prepare(ctx, c, owner, live, deploy); err != nil {
			return false, err
		}
	}
	if err := apply.EnsureObject(ctx, c, scheme, owner, deploy, apply.FieldManager); err != nil {
		return false, err
	}
	return IsDeploymentReady(deploy), nil
}

// prepare makes the changes that an apply of the declared fields cannot make.
func prepare(ctx context.Context, c client.Client, owner client.Object, live, deploy *appsv1.Deployment) error {
	if err := wake(ctx, c, live); err != nil {
		return err
	}
	if deploy.Spec.Replicas == nil {
		if err := handOverReplicas(ctx, c, live); err != nil {
			return err
		}
	}
	if !metav1.IsControlledBy(live, owner) {
		return nil
	}
	return dropRollingUpdate(ctx, c, live, deploy.Spec.Strategy.Type)
}

// wake starts one replica of a Deployment that was stopped because its resource hibernated, to
// which the apply or the autoscaler adds the others.
func wake(ctx context.Context, c client.Client, live *appsv1.Deployment) error {
	if live.Annotations[vocabulary.AnnotationHibernated] == "" {
		return nil
	}
	return apply.Fields(ctx, c, live, nil, vocabulary.HibernationManager)
}

// dropRollingUpdate changes the strategy to Recreate, for which the API server rejects
// rollingUpdate. An apply does not remove the defaults of that field because no manager
// owns them.
func dropRollingUpdate(ctx context.Context, c client.Client, live *appsv1.Deployment, wanted appsv1.DeploymentStrategyType) error {
	if wanted != appsv1.RecreateDeploymentStrategyType || live.Spec.Strategy.RollingUpdate == nil {
		return nil
	}
	changed := live.DeepCopy()
	changed.Spec.Strategy = appsv1.DeploymentStrategy{Type: wanted}
	return apply.Merge(ctx, c, live, changed, "changing the strategy of")
}

// handOverReplicas preserves the live replica count when the operator stops setting it: a
// field that loses its only owner returns to its default, one. It starts one replica of a
// Deployment that the operator has stopped, to which the autoscaler adds the others.
func handOverReplicas(ctx context.Context, c client.Client, live *appsv1.Deployment) error {
	version := appsv1.SchemeGroupVersion.String()
	owns, err := apply.Owns(live, apply.FieldManager, version, "spec", "replicas")
	if err != nil || !owns {
		return err
	}
	count := map[string]any{"spec": map[string]any{"replicas": max(ptr.Deref(live.Spec.Replicas, 1), 1)}}
	return apply.Fields(ctx, c, live, count, handoverManager)
}

// EnsureService applies the Service. Addresses and node ports stay as the API server
// assigned them.
func EnsureService(ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, svc *corev1.Service) error {
	if err := restorePorts(ctx, c, owner, svc); err != nil {
		return err
	}
	return apply.EnsureObject(ctx, c, scheme, owner, svc, apply.FieldManager)
}

// restorePorts restores the ports of a Service on which a declared port was replaced by
// another one. An apply would add the declared port as a second one, which the API
// rejects while either port has no name.
func restorePorts(ctx context.Context, c client.Client, owner client.Object, svc *corev1.Service) error {
	live, err := apply.Find(ctx, c, client.ObjectKeyFromObject(svc), &corev1.Service{})
	if live == nil || err != nil || !metav1.IsControlledBy(live, owner) || hasPorts(live, svc.Spec.Ports) {
		return err
	}
	changed := live.DeepCopy()
	changed.Spec.Ports = svc.Spec.Ports
	return apply.Merge(ctx, c, live, changed, "restoring the ports of")
}

func hasPorts(live *corev1.Service, wanted []corev1.ServicePort) bool {
	for _, port := range wanted {
		if !slices.ContainsFunc(live.Spec.Ports, func(p corev1.ServicePort) bool {
			return p.Port == port.Port && p.Protocol == port.Protocol
		}) {
			return false
		}
	}
	return true
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
