package deployment

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func rolledOut() *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To(int32(3))},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
		},
	}
}

func TestARolloutIsCompleteOnlyWithoutOldPods(t *testing.T) {
	if !IsDeploymentReady(rolledOut()) {
		t.Fatal("a Deployment that is rolled out does not count as ready")
	}
	for name, change := range map[string]func(*appsv1.Deployment){
		"the controller has not seen the spec": func(d *appsv1.Deployment) { d.Generation = 3 },
		"a pod has the old template":           func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 2 },
		"an old pod is still there":            func(d *appsv1.Deployment) { d.Status.Replicas = 4 },
		"a pod is not available":               func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 2 },
		"a pod is not ready":                   func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 2 },
		"it is not available":                  func(d *appsv1.Deployment) { d.Status.Conditions[0].Status = corev1.ConditionFalse },
		"its availability is unknown":          func(d *appsv1.Deployment) { d.Status.Conditions = nil },
		"it should be larger":                  func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To(int32(5)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := rolledOut()
			change(d)
			if IsDeploymentReady(d) {
				t.Errorf("counts as ready: %s", Progress(d))
			}
		})
	}
}

func TestAnUnsetReplicaCountMeansOne(t *testing.T) {
	d := rolledOut()
	d.Spec.Replicas = nil
	d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 1, 1, 1, 1
	if !IsDeploymentReady(d) {
		t.Errorf("does not count as ready: %s", Progress(d))
	}
}
