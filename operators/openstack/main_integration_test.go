//go:build integration

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/installed"
	"github.com/c5c3/forge/internal/common/testutil/outside"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
)

var chart = installed.Chart{Folder: "helm/openstack-operator", Program: run}

func TestMain(m *testing.M) { chart.Main(m, thirdparty.All) }

// run runs the program as often as the tests like.
func run(ctx context.Context, args []string, config *rest.Config) error {
	return repeatable().Run(ctx, args, config)
}

func repeatable() operator.Group {
	g := group()
	for i := range g.Operators {
		g.Operators[i].SkipNameValidation = true
	}
	return g
}

// of returns the chart with the sample of a service.
func of(service string) installed.Chart {
	c := chart
	c.Sample = outside.File("../" + service + "/config/samples/minimal.yaml")
	c.Begun = "SecretsReady"
	if service == "horizon" {
		c.Begun = "DeploymentReady"
	}
	for _, o := range group().Operators {
		if o.Name == service+"-operator" {
			c.Options.Scheme = o.Scheme
		}
	}
	c.Options.Name = group().Name
	return c
}

func TestTheProgramAsInstalledByItsChartGuardsAndRunsEachService(t *testing.T) {
	of("keystone").Read(t, "defaults").RunWithWebhooks(t)
	for _, service := range []string{"barbican", "glance", "horizon", "keystone", "placement"} {
		t.Run(service, func(t *testing.T) {
			c, namespace := of(service), chart.Env.Namespace(t)
			admin := c.Env.Client(t, c.Options.Scheme)
			c.ExpectWork(t, namespace)
			invalid := c.Resource(t, namespace)
			invalid.(interface{ ServiceSpec() *commonv1.ServiceSpec }).ServiceSpec().PriorityClassName = new("missing")
			if err := admin.Create(t.Context(), invalid, client.DryRunAll); err == nil || !strings.Contains(err.Error(), `Not found: "missing"`) {
				t.Errorf("an invalid one is not refused: %v", err)
			}
		})
	}
}

func TestANamespacedReleaseReconcilesWithARoleAlone(t *testing.T) { of("keystone").WorksWithARole(t) }

func TestTheChartHookMayApplyTheCRDs(t *testing.T) { of("keystone").AppliesDefinitions(t) }

// TestSwitchingBetweenTheProgramsRestartsNoPod lets the operator of Horizon work in its own program,
// in the common one, and in its own again.
func TestSwitchingBetweenTheProgramsRestartsNoPod(t *testing.T) {
	c, namespace, own, common := of("horizon"), chart.Env.Namespace(t), chart.Env.Namespace(t), chart.Env.Namespace(t)
	admin := c.Env.Client(t, c.Options.Scheme)
	var single operator.Options
	for _, o := range repeatable().Operators {
		if o.Name == "horizon-operator" {
			single = o
		}
	}
	alone := func(ctx context.Context, args []string) error { return operator.Run(ctx, single, args, c.Env.Config) }
	together := func(ctx context.Context, args []string) error {
		return run(ctx, append(args, "--lease-namespaces=horizon="+own), c.Env.Config)
	}

	stop := start(t, own, alone)
	horizon := c.Resource(t, namespace).(*horizonv1alpha1.Horizon)
	if err := admin.Create(t.Context(), horizon); err != nil {
		t.Fatal(err)
	}
	before := scaled(t, admin, horizon, 1)
	for replicas, next := range []func() func(){
		func() func() { return start(t, common, together) },
		func() func() { return start(t, own, alone) },
	} {
		// Both are installed for a while.
		stopNext := next()
		stop()
		stop = stopNext
		after := scaled(t, admin, horizon, int32(replicas)+2)
		if diff := cmp.Diff(before.Spec.Template, after.Spec.Template); diff != "" || before.UID != after.UID {
			t.Errorf("the Deployment is another one, or has other pods (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(before.Labels, after.Labels); diff != "" {
			t.Errorf("labels (-before +after):\n%s", diff)
		}
	}
}

// start runs a program as if in a pod of the namespace, until the returned function is called. It
// returns when the program is ready.
func start(t *testing.T, namespace string, program func(context.Context, []string) error) (stop func()) {
	t.Helper()
	t.Setenv("POD_NAMESPACE", namespace)
	probes := fmt.Sprintf("localhost:%d", envtest.FreePort(t))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- program(ctx, []string{
			"--leader-elect", "--enable-webhooks=false", "--metrics-bind-address=0", "--health-probe-bind-address=" + probes,
		})
	}()
	expect.Eventually(t, "the program is ready", func(ctx context.Context) error { return expect.OK(ctx, "http://"+probes+"/readyz") })
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the program ended with: %v", err)
		}
	}
}

// scaled changes the replicas of the Horizon, and returns its Deployment once that follows.
func scaled(t *testing.T, admin client.Client, horizon *horizonv1alpha1.Horizon, replicas int32) *appsv1.Deployment {
	t.Helper()
	key := client.ObjectKeyFromObject(horizon)
	expect.Eventually(t, "the Horizon is scaled", func(ctx context.Context) error {
		if err := admin.Get(ctx, key, horizon); err != nil {
			return err
		}
		horizon.Spec.Replicas = replicas
		return admin.Update(ctx, horizon)
	})
	deployment := &appsv1.Deployment{}
	expect.Eventually(t, "its Deployment follows", func(ctx context.Context) error {
		err := admin.Get(ctx, key, deployment)
		if err == nil && ptr.Deref(deployment.Spec.Replicas, 0) != replicas {
			err = errors.New("it has other replicas")
		}
		return err
	})
	return deployment
}
