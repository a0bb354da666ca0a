package kit_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/kit"
	"github.com/c5c3/forge/internal/common/networking"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
)

var stateless = kit.Stateless[*service.Pass]{}

func TestAServiceWithoutADatabaseInstallsTheReleaseThatItsPodsRun(t *testing.T) {
	b := instance.WithoutDatabase()
	p := instance.Pass(t, b, interceptor.Funcs{})
	api := stateless.Pods(deployment.API[*service.Pass]{
		HealthPath: "/", Endpoint: func(*service.Pass) string { return "http://harbour" },
	})
	if waiting := api.Reconcile(t.Context(), p); waiting.IsDone() || b.Status.InstalledRelease != "" {
		t.Errorf("before a pod is there, %s is installed: %s", b.Status.InstalledRelease, waiting.Message())
	}
	available(t, p)
	if done := api.Reconcile(t.Context(), p); !done.IsDone() || b.Status.InstalledRelease != "2025.2" {
		t.Errorf("with all pods, %q is installed: %s", b.Status.InstalledRelease, done.Message())
	}
	if news, err := api.Backing.Complete(t.Context(), p); news != "" || err != nil {
		t.Errorf("a release that is installed is news: %q, %v", news, err)
	}
	b.Spec.Image.Tag = "2026.1"
	news, err := api.Backing.Complete(t.Context(), p)
	if err != nil || !strings.Contains(news, "2026.1") || !strings.Contains(news, "2025.2") || b.Status.InstalledRelease != "2026.1" {
		t.Errorf("another release: %q, %v", news, err)
	}
}

// available makes the rollout of the Deployment end.
func available(t *testing.T, p *service.Pass) {
	t.Helper()
	deploy := &appsv1.Deployment{}
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(p.Resource), deploy); err != nil {
		t.Fatal(err)
	}
	replicas := *deploy.Spec.Replicas
	deploy.Status = appsv1.DeploymentStatus{
		Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
	}
	if err := p.Client.Status().Update(t.Context(), deploy); err != nil {
		t.Fatal(err)
	}
}

func TestPodsWithoutADatabaseAskForNone(t *testing.T) {
	p := instance.Pass(t, instance.WithoutDatabase(), interceptor.Funcs{})
	api := stateless.Pods(deployment.API[*service.Pass]{HealthPath: "/health"})
	script := api.ReadyScript(p.Definition)
	for _, line := range []string{`VARIABLE = ""`, `TABLE = ""`, `TABLES = []`, `ADDRESS = "http://127.0.0.1:7000/health"`} {
		if !strings.Contains(script, line+"\n") {
			t.Errorf("%s lacks %s", deployment.ReadyFile, line)
		}
	}
	of := networking.TrafficOf(p)
	for _, policy := range []*networkingv1.NetworkPolicy{of.API(), of.Tasks(nil)} {
		for _, rule := range policy.Spec.Egress {
			for _, port := range rule.Ports {
				if port.Port.IntVal == 3306 {
					t.Errorf("%s opens the port of a database", policy.Name)
				}
			}
		}
	}
}
