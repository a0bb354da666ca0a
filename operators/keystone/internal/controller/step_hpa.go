package controller

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// reconcileHPA hands the replica count to a HorizontalPodAutoscaler when the
// spec asks for it.
func reconcileHPA(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	if k.Spec.Autoscaling == nil {
		absent := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: k.Name, Namespace: k.Namespace}}
		if err := apply.EnsureAbsent(ctx, s.client, k, absent); err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
		}
		return reconcile.Done(keystonev1alpha1.ReasonHPANotRequired, "spec.autoscaling is not set")
	}
	if err := apply.EnsureObject(ctx, s.client, s.scheme, k, autoscaler(k), apply.FieldManager); err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonReconcileError, err)
	}
	return reconcile.Done(keystonev1alpha1.ReasonHPAReady, "The HorizontalPodAutoscaler is in place")
}

func autoscaler(k *keystonev1alpha1.Keystone) *autoscalingv2.HorizontalPodAutoscaler {
	spec := k.Spec.Autoscaling
	var metrics []autoscalingv2.MetricSpec
	for _, target := range []struct {
		resource    corev1.ResourceName
		utilization *int32
	}{
		{corev1.ResourceCPU, spec.TargetCPUUtilization},
		{corev1.ResourceMemory, spec.TargetMemoryUtilization},
	} {
		if target.utilization == nil {
			continue
		}
		metrics = append(metrics, autoscalingv2.MetricSpec{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name: target.resource,
				Target: autoscalingv2.MetricTarget{
					Type: autoscalingv2.UtilizationMetricType, AverageUtilization: target.utilization,
				},
			},
		})
	}
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: k.Name, Namespace: k.Namespace, Labels: commonLabels(k)},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: k.Name},
			MinReplicas:    ptr.To(ptr.Deref(spec.MinReplicas, k.Spec.Replicas)),
			MaxReplicas:    spec.MaxReplicas,
			Metrics:        metrics,
		},
	}
}
