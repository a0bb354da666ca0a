//go:build integration

package deployment_test

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

var env *envtest.Env

func TestMain(m *testing.M) {
	envtest.Main(m, envtest.Options{}, func(_ context.Context, started *envtest.Env) error {
		env = started
		return nil
	})
}

func withStrategy(namespace string, strategy appsv1.DeploymentStrategy) *appsv1.Deployment {
	labels := map[string]string{"app": "thing"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "thing", Namespace: namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Strategy: strategy,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/image:1"}}},
			},
		},
	}
}

func TestTheStrategyCanChangeToRecreateAndBack(t *testing.T) {
	counter := &transport.Counter{}
	c, err := client.New(counter.Config(env.Config), client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner", Namespace: env.Namespace(t)}}
	objects.Create(t, c, owner)
	ensure := func(strategy appsv1.DeploymentStrategy) (live *appsv1.Deployment, writes int) {
		t.Helper()
		before, live := counter.Snapshot(), withStrategy(owner.Namespace, strategy)
		if _, err := deployment.EnsureDeployment(t.Context(), c, c.Scheme(), owner, live); err != nil {
			t.Fatal(err)
		}
		return live, len(counter.Since(before).Writes())
	}
	recreate := appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	rolling := appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType}
	for range 2 {
		if live, _ := ensure(rolling); live.Spec.Strategy.RollingUpdate == nil {
			t.Fatal("the API server has set no rollingUpdate")
		}
		if live, _ := ensure(recreate); live.Spec.Strategy != recreate {
			t.Errorf("the strategy is %+v", live.Spec.Strategy)
		}
		if _, writes := ensure(recreate); writes != 0 {
			t.Errorf("%d writes of what is there, want none", writes)
		}
	}
}
