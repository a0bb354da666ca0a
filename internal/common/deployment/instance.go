package deployment

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Instance holds what the objects of one API service instance have in common. All of them
// have its name.
type Instance struct {
	Name, Namespace string
	// Labels are on every object.
	Labels map[string]string
	// Selector selects the API pods.
	Selector map[string]string
	// Port is the TCP port on which the Service and the pods listen.
	Port int32
	// LargeBodies is that of [service.Definition].
	LargeBodies bool
}

// Meta returns the metadata of the objects.
func (i Instance) Meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: i.Name, Namespace: i.Namespace, Labels: i.Labels}
}

// Service builds the Service of the API pods.
func (i Instance) Service() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: i.Meta(),
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: i.Selector,
			Ports: []corev1.ServicePort{{
				Port: i.Port, TargetPort: intstr.FromInt32(i.Port), Protocol: corev1.ProtocolTCP,
			}},
		},
	}
}

// DisruptionBudget keeps one pod serving if there are several, and does not block a node
// drain if there is only one.
func (i Instance) DisruptionBudget(replicas int32) *policyv1.PodDisruptionBudget {
	spec := policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: i.Selector}}
	one := intstr.FromInt32(1)
	if replicas > 1 {
		spec.MinAvailable = &one
	} else {
		spec.MaxUnavailable = &one
	}
	return &policyv1.PodDisruptionBudget{ObjectMeta: i.Meta(), Spec: spec}
}

// Autoscaler builds the autoscaler of the API Deployment. replicas is the lower bound if
// the spec sets none.
func (i Instance) Autoscaler(spec *commonv1.AutoscalingSpec, replicas int32) *autoscalingv2.HorizontalPodAutoscaler {
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
		ObjectMeta: i.Meta(),
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: i.Name},
			MinReplicas:    ptr.To(ptr.Deref(spec.MinReplicas, replicas)),
			MaxReplicas:    spec.MaxReplicas,
			Metrics:        metrics,
		},
	}
}

// SpreadConstraints spread the API pods over zones and nodes unless the spec sets
// constraints. An empty list in the spec disables them; an absent one selects the
// defaults.
func (i Instance) SpreadConstraints(wanted []corev1.TopologySpreadConstraint) []corev1.TopologySpreadConstraint {
	if wanted != nil {
		return wanted
	}
	constraints := make([]corev1.TopologySpreadConstraint, 0, 2)
	for _, topology := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
		constraints = append(constraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: topology, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: i.Selector},
		})
	}
	return constraints
}

// Affinity has the API pods run on different nodes as long as there are enough, unless the
// spec sets constraints. The default constraints do so only where nodes have zones: the scheduler
// leaves a node out of account that lacks the label of one of them.
func (i Instance) Affinity(wanted []corev1.TopologySpreadConstraint) *corev1.Affinity {
	if wanted != nil {
		return nil
	}
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 100,
			PodAffinityTerm: corev1.PodAffinityTerm{
				TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: i.Selector},
			},
		}},
	}}
}

// RolloutStrategy returns the strategy of the spec. The default never drops below the
// wanted number of replicas.
func RolloutStrategy(wanted *appsv1.DeploymentStrategy) appsv1.DeploymentStrategy {
	if wanted != nil {
		return *wanted
	}
	return appsv1.DeploymentStrategy{
		Type: appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxUnavailable: ptr.To(intstr.FromInt32(0)), MaxSurge: ptr.To(intstr.FromInt32(1)),
		},
	}
}
