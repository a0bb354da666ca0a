package deployment

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// ReconcileAutoscaler ensures a HorizontalPodAutoscaler if spec.autoscaling is set and
// removes it otherwise.
func ReconcileAutoscaler(ctx context.Context, p *service.Pass) reconcile.Outcome {
	if p.Spec.Autoscaling == nil {
		absent := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: p.Meta(p.Resource.GetName())}
		if err := apply.EnsureAbsent(ctx, p.Client, p.Resource, absent); err != nil {
			return reconcile.Failed(vocabulary.ReasonReconcileError, err)
		}
		return reconcile.Done(vocabulary.ReasonHPANotRequired, "spec.autoscaling is not set")
	}
	scaler := InstanceOf(p).Autoscaler(p.Spec.Autoscaling, p.Spec.Replicas)
	if err := apply.EnsureObject(ctx, p.Client, p.Scheme, p.Resource, scaler, apply.FieldManager); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
	}
	return reconcile.Done(vocabulary.ReasonHPAReady, "The HorizontalPodAutoscaler is in place")
}
