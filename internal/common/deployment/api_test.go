package deployment

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/rollout"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func TestAPodThatIsNotReadyIsReportedWithItsBackend(t *testing.T) {
	p := service.NewPass(&service.Tools{}, &instance.Definition, instance.Brownfield())
	api := API[*service.Pass]{Backing: Backing{Address: func(p *service.Pass) string { return p.Data.Database.Host + ":3306" }}}
	pod := func(ready bool, age time.Duration) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "harbour-1"}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Ready: ready, State: corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(time.Now().Add(-age))},
		}}}
		return p
	}
	for name, test := range map[string]struct {
		pod  corev1.Pod
		want bool
	}{
		"ready":      {pod(true, time.Hour), false},
		"starting":   {pod(false, time.Second), false},
		"not ready":  {pod(false, time.Hour), true},
		"no process": {corev1.Pod{}, false},
	} {
		got := api.unready(p, []corev1.Pod{test.pod})
		if strings.Contains(got, "harbour-1") != test.want || test.want && !strings.Contains(got, "db.example.com:3306") {
			t.Errorf("a pod that is %s is described by %q", name, got)
		}
	}
}

func TestAMinimalAPIDeclarationReconciles(t *testing.T) {
	h := instance.Brownfield()
	p := instance.Pass(t, h, interceptor.Funcs{})
	api := API[*service.Pass]{HealthPath: "/", Endpoint: func(*service.Pass) string { return "http://harbour" }}
	waiting := api.Reconcile(t.Context(), p)
	if waiting.IsDone() || waiting.Reason() != vocabulary.ReasonWaitingForDeployment || h.Status.Endpoint != "" {
		t.Errorf("before a pod is there: %s: %s at %q", waiting.Reason(), waiting.Message(), h.Status.Endpoint)
	}
	markAvailable(t, p)
	if done := api.Reconcile(t.Context(), p); !done.IsDone() || h.Status.Endpoint != "http://harbour" {
		t.Errorf("with all pods: %s: %s at %q", done.Reason(), done.Message(), h.Status.Endpoint)
	}
}

func TestTheImageDecidesHowItsApplicationIsServed(t *testing.T) {
	const reference, module = "ghcr.io/c5c3/harbour:2025.2", "harbour.wsgi:application"
	for name, test := range map[string]struct {
		wrapper string
		found   []commonv1.ImageStatus
		flag    string
		want    string
	}{
		"no image check yet": {flag: "--wsgi-file", want: "/bin/harbour-api"},
		"another image":      {"", []commonv1.ImageStatus{{Reference: "other:2025.2", Module: module}}, "--wsgi-file", "/bin/harbour-api"},
		"a script":           {"", []commonv1.ImageStatus{{Reference: reference, Script: "/opt/harbour-api"}}, "--wsgi-file", "/opt/harbour-api"},
		"both":               {"", []commonv1.ImageStatus{{Reference: reference, Script: "/a", Module: module}}, "--wsgi-file", "/a"},
		"a module":           {"", []commonv1.ImageStatus{{Reference: reference, Module: module}}, "--module", module},
		"a wrapper":          {"/etc/wrapped.py", nil, "--wsgi-file", "/etc/wrapped.py"},
		"a wrapped module": {
			"/etc/wrapped.py", []commonv1.ImageStatus{{Reference: reference, Module: module}}, "--wsgi-file", "/etc/wrapped.py",
		},
	} {
		h := instance.Brownfield()
		h.Status.Images = test.found
		p := instance.Pass(t, h, interceptor.Funcs{})
		api := API[*service.Pass]{Wrapper: func(*service.Pass) string { return test.wrapper }}
		command := api.Deployment(p).Spec.Template.Spec.Containers[0].Command
		if at := slices.Index(command, test.flag); at < 0 || command[at+1] != test.want {
			t.Errorf("%s: the command is %q, want it to serve %s", name, command, test.want)
		}
	}
}

func TestAnOperatorUpgradeRollsOutAFewDeploymentsAtATime(t *testing.T) {
	p, before := whileOthersChange(t, 1)
	after := before
	after.Arguments = "--fast"
	runs := func(arguments string) bool { return slices.Contains(container(t, p).Command, "--pyargv="+arguments) }
	if waiting := after.Reconcile(t.Context(), p); !waiting.IsDone() || !runs(before.Arguments) {
		t.Errorf("while others change: %s: %s, and the pods run %q", waiting.Reason(), waiting.Message(), container(t, p).Command)
	}
	p.Turns.Forget(types.NamespacedName{Name: "harbour-0"})
	if after.Reconcile(t.Context(), p); !runs(after.Arguments) {
		t.Errorf("after another has changed, the pods still run %q", container(t, p).Command)
	}
}

func TestAChangeOfTheSpecDoesNotWaitForOtherDeployments(t *testing.T) {
	p, api := whileOthersChange(t, 2)
	p.Spec.Image.Tag = "2026.1"
	if api.Reconcile(t.Context(), p); container(t, p).Image != p.Spec.Image.Reference() {
		t.Errorf("the pods still have the image %s", container(t, p).Image)
	}
}

// whileOthersChange returns a pass over a resource of the generation, of which the operator
// has observed the first, with a Deployment that the API has built and whose pods are
// available. All turns are taken by other Deployments.
func whileOthersChange(t *testing.T, generation int64) (*service.Pass, API[*service.Pass]) {
	t.Helper()
	h := instance.Brownfield()
	h.Generation, h.Status.ObservedGeneration = generation, 1
	p := instance.Pass(t, h, interceptor.Funcs{})
	api := API[*service.Pass]{Endpoint: func(*service.Pass) string { return "http://harbour" }}
	api.Reconcile(t.Context(), p)
	markAvailable(t, p)
	p.Turns = rollout.NewTurns(nil)
	for i := range rollout.Limit {
		p.Turns.Take(types.NamespacedName{Name: fmt.Sprint("harbour-", i)}, rollout.State{Exists: true, Settled: true, Differs: true})
	}
	return p, api
}

// container returns the container of the API pods.
func container(t *testing.T, p *service.Pass) corev1.Container {
	t.Helper()
	return deploymentOf(t, p).Spec.Template.Spec.Containers[0]
}

func deploymentOf(t *testing.T, p *service.Pass) *appsv1.Deployment {
	t.Helper()
	deploy := &appsv1.Deployment{}
	if err := p.Client.Get(t.Context(), p.Key(p.Resource.GetName()), deploy); err != nil {
		t.Fatal(err)
	}
	return deploy
}

// markAvailable makes the Deployment one whose pods are all updated and available.
func markAvailable(t *testing.T, p *service.Pass) {
	t.Helper()
	deploy := deploymentOf(t, p)
	deploy.Status = appsv1.DeploymentStatus{
		Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
	}
	if err := p.Client.Status().Update(t.Context(), deploy); err != nil {
		t.Fatal(err)
	}
}

func TestTheDisruptionBudgetFollowsTheAutoscaler(t *testing.T) {
	h := instance.Brownfield()
	h.Spec.Replicas, h.Spec.Autoscaling = 1, &commonv1.AutoscalingSpec{MaxReplicas: 3, TargetCPUUtilization: new(int32(70))}
	p := instance.Pass(t, h, interceptor.Funcs{})
	api := API[*service.Pass]{Endpoint: func(*service.Pass) string { return "http://harbour" }}
	api.Reconcile(t.Context(), p)
	scaled := deploymentOf(t, p)
	scaled.Spec.Replicas = new(int32(2))
	if err := p.Client.Update(t.Context(), scaled, client.FieldOwner("autoscaler")); err != nil {
		t.Fatal(err)
	}
	api.Reconcile(t.Context(), p)
	budget := &policyv1.PodDisruptionBudget{}
	if err := p.Client.Get(t.Context(), p.Key("harbour"), budget); err != nil {
		t.Fatal(err)
	}
	if budget.Spec.MinAvailable == nil || budget.Spec.MaxUnavailable != nil {
		t.Errorf("with two pods, the budget is %+v", budget.Spec)
	}
}
