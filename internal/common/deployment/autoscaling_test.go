package deployment

import (
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func TestAnAutoscalerIsReadyOnlyWhileItScales(t *testing.T) {
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	active := func(status corev1.ConditionStatus, ago time.Duration) []autoscalingv2.HorizontalPodAutoscalerCondition {
		return []autoscalingv2.HorizontalPodAutoscalerCondition{
			{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue},
			{
				Type: autoscalingv2.ScalingActive, Status: status, LastTransitionTime: metav1.NewTime(noon.Add(-ago)),
				Reason: "FailedGetResourceMetric", Message: "the HPA was unable to compute the replica count",
			},
		}
	}
	requested := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
	limited := corev1.ResourceRequirements{Limits: requested.Requests}
	for name, c := range map[string]struct {
		conditions []autoscalingv2.HorizontalPodAutoscalerCondition
		resources  corev1.ResourceRequirements
		says       string
		again      time.Duration
	}{
		"not seen yet":                 {nil, requested, "", 0},
		"not seen yet, with a limit":   {nil, limited, "", 0},
		"not seen, without a request":  {nil, corev1.ResourceRequirements{}, "set spec.resources.requests.cpu", 0},
		"active":                       {active(corev1.ConditionTrue, 0), requested, "", 0},
		"active by a LimitRange":       {active(corev1.ConditionTrue, 0), corev1.ResourceRequirements{}, "", 0},
		"without metrics for a minute": {active(corev1.ConditionFalse, time.Minute), requested, "", 2 * time.Minute},
		"without metrics": {
			active(corev1.ConditionFalse, metricsPatience), requested,
			"(FailedGetResourceMetric): the HPA was unable to compute the replica count; let the cluster have metrics of its pods", 0,
		},
		"without a request": {active(corev1.ConditionFalse, 0), corev1.ResourceRequirements{}, "set spec.resources.requests.cpu", 0},
	} {
		h := instance.Brownfield()
		h.Spec.Autoscaling = &commonv1.AutoscalingSpec{MaxReplicas: 3, TargetCPUUtilization: new(int32(70))}
		h.Spec.Resources = &c.resources
		p := instance.Pass(t, h, interceptor.Funcs{})
		p.Clock = func() time.Time { return noon }
		scaler := InstanceOf(p).Autoscaler(p.Spec.Autoscaling, p.Spec.Replicas)
		scaler.Status.Conditions = c.conditions
		got := reportAutoscaler(p, scaler)
		want := vocabulary.ReasonHPAReady
		if c.says != "" {
			want = vocabulary.ReasonHPANotScaling
		}
		if got.IsDone() != (c.says == "") || got.Reason() != want || !strings.Contains(got.Message(), c.says) || got.RequeueAfter() != c.again {
			t.Errorf("%s: got %s after %s: %s", name, got.Reason(), got.RequeueAfter(), got.Message())
		}
	}
}

// A message that named one or the other by chance would be written again and again.
func TestTheMissingResourceRequestIsNamedDeterministically(t *testing.T) {
	spec := &commonv1.ServiceSpec{Autoscaling: &commonv1.AutoscalingSpec{
		TargetCPUUtilization: new(int32(80)), TargetMemoryUtilization: new(int32(80)),
	}}
	for range 50 {
		if got := unrequestedResource(spec); got != corev1.ResourceCPU {
			t.Fatalf("got %q", got)
		}
	}
}
