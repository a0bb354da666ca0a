package controller

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// reconcileHPA hands the replica count to a HorizontalPodAutoscaler when the
// spec asks for it.
func reconcileHPA(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	if k.Spec.Autoscaling == nil {
		absent := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: k.Name, Namespace: k.Namespace}}
		if err := apply.EnsureAbsent(ctx, s.Client, k, absent); err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
		}
		return reconcile.Done(keystonev1alpha1.ReasonHPANotRequired, "spec.autoscaling is not set")
	}
	scaler := deployment.InstanceOf(s.Pass).Autoscaler(k.Spec.Autoscaling, k.Spec.Replicas)
	if err := apply.EnsureObject(ctx, s.Client, s.Scheme, k, scaler, apply.FieldManager); err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonReconcileError, err)
	}
	return reconcile.Done(keystonev1alpha1.ReasonHPAReady, "The HorizontalPodAutoscaler is in place")
}
