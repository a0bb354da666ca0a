package deployment

import (
	"context"
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
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
	return reportAutoscaler(p, scaler)
}

// metricsPatience is how long an autoscaler may have no metrics: those of a pod that has
// just started are not there yet.
const metricsPatience = 3 * time.Minute

// reportAutoscaler reports what the autoscaler says about itself. It changes the number of
// pods only while it is active.
func reportAutoscaler(p *service.Pass, scaler *autoscalingv2.HorizontalPodAutoscaler) reconcile.Outcome {
	done := reconcile.Done(vocabulary.ReasonHPAReady, "The HorizontalPodAutoscaler is in place")
	active := slices.IndexFunc(scaler.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
		return c.Type == autoscalingv2.ScalingActive
	})
	remedy := "let the cluster have metrics of its pods, for example from metrics-server"
	unrequested := unrequestedResource(p.Spec)
	if unrequested != "" {
		remedy = fmt.Sprintf("set spec.resources.requests.%s, of which spec.autoscaling asks for a percentage", unrequested)
	}
	switch {
	case active < 0 && unrequested == "":
		return done
	case active < 0:
		return reconcile.Degraded(vocabulary.ReasonHPANotScaling,
			"The HorizontalPodAutoscaler is not known to be active: "+remedy+", unless a LimitRange does")
	}
	said := scaler.Status.Conditions[active]
	if said.Status != corev1.ConditionFalse || p.Status.UpgradePhase.IsOffline() {
		return done
	}
	if left := metricsPatience - p.Now().Sub(said.LastTransitionTime.Time); left > 0 && unrequested == "" {
		return done.After(left)
	}
	return reconcile.Degraded(vocabulary.ReasonHPANotScaling, fmt.Sprintf(
		"The HorizontalPodAutoscaler does not change the number of pods (%s): %s; %s", said.Reason, said.Message, remedy))
}

// unrequestedResource returns a resource of which the spec wants a percentage of the request
// without having one, "" if there is none. A limit is the request, too.
func unrequestedResource(spec *commonv1.ServiceSpec) corev1.ResourceName {
	resources := ptr.Deref(spec.Resources, corev1.ResourceRequirements{})
	lacks := func(name corev1.ResourceName, target *int32) bool {
		_, requested := resources.Requests[name]
		_, limited := resources.Limits[name]
		return target != nil && !requested && !limited
	}
	switch {
	case lacks(corev1.ResourceCPU, spec.Autoscaling.TargetCPUUtilization):
		return corev1.ResourceCPU
	case lacks(corev1.ResourceMemory, spec.Autoscaling.TargetMemoryUtilization):
		return corev1.ResourceMemory
	}
	return ""
}
