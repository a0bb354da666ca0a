//go:build integration

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/foreign"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/release"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
)

const (
	chartFolder = "helm/c5c3-operator"
	sample      = "config/samples/minimal.yaml"
)

var env *envtest.Env

func TestMain(m *testing.M) {
	o := envtest.Options{
		CRDs: []string{
			chartFolder + "/crds", "../keystone/config/crd/bases", "../../deploy/infra/memcached-operator/crd.yaml",
		},
		Foreign: []foreign.Project{foreign.MariaDB, foreign.ExternalSecrets, foreign.KORC},
	}
	envtest.Main(m, o, func(_ context.Context, e *envtest.Env) error {
		env = e
		return nil
	})
}

func chart(t *testing.T) release.Chart {
	t.Helper()
	admitted := func(namespace string) client.Object { return readControlPlane(t, namespace) }
	return release.Chart{Env: env, Folder: chartFolder, Options: options(), Admitted: admitted}
}

func TestTheOperatorAsInstalledByItsChartBecomesReadyAndGuardsControlPlanes(t *testing.T) {
	installed := chart(t).Read(t, "defaults")
	port := envtest.FreePort(t)
	installed.ServeWebhooksAt(port)
	installed.Create(t)
	installed.Run(t, fmt.Sprintf("--webhook-port=%d", port))

	c := env.Client(t, controller.Scheme())
	cp := readControlPlane(t, installed.Namespace)
	expect.Eventually(t, "a valid ControlPlane is admitted", func(ctx context.Context) error {
		return c.Create(ctx, cp.DeepCopy(), client.DryRunAll)
	})
	invalid := cp.DeepCopy()
	invalid.Spec.Infrastructure.Database.Replicas = new(int32(2))
	expect.Eventually(t, "an even number of database servers is refused", func(ctx context.Context) error {
		err := c.Create(ctx, invalid.DeepCopy(), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "spec.infrastructure.database.replicas") {
			return errors.Join(errors.New("it is not"), err)
		}
		return nil
	})
	assertReconciled(t, c, cp)
}

func TestANamespacedReleaseReconcilesWithARoleAlone(t *testing.T) {
	installed := chart(t).Read(t, "namespace-scoped")
	for _, object := range installed.Objects {
		if kind := object.GetObjectKind().GroupVersionKind().Kind; strings.Contains(kind, "Cluster") || strings.Contains(kind, "Webhook") {
			t.Errorf("the release has a %s", kind)
		}
	}
	installed.Create(t)
	installed.Run(t)
	assertReconciled(t, env.Client(t, controller.Scheme()), readControlPlane(t, installed.Namespace))
}

func TestAnIgnoredNamespaceIsLeftToAnOperatorOfItsOwn(t *testing.T) {
	c := env.Client(t, controller.Scheme())
	ignored, other := readControlPlane(t, env.Namespace(t)), readControlPlane(t, env.Namespace(t))
	objects.Create(t, c, ignored)
	installed := chart(t).Read(t, "defaults")
	port := envtest.FreePort(t)
	installed.ServeWebhooksAt(port)
	installed.Create(t)
	installed.Run(t, fmt.Sprintf("--webhook-port=%d", port), "--ignore-namespaces="+ignored.Namespace)
	// The ignored one was there first: it would have been looked at before this one.
	assertReconciled(t, c, other)
	expect.Exists(t, c, ignored)
	if len(ignored.Status.Conditions) > 0 || len(ignored.Finalizers) > 0 {
		t.Errorf("the operator has worked on it: finalizers %v, conditions %v", ignored.Finalizers, ignored.Status.Conditions)
	}
}

func TestTheHookOfTheChartMayApplyTheDefinitions(t *testing.T) {
	installed := chart(t).Read(t, "defaults")
	installed.Create(t)
	if err := installed.ApplyDefinitions(t); err != nil {
		t.Error(err)
	}
}

// assertReconciled creates the ControlPlane, whose secret store has nothing, and
// waits until the operator has begun with it.
func assertReconciled(t *testing.T, c client.Client, cp *c5c3v1alpha1.ControlPlane) {
	t.Helper()
	expect.Eventually(t, "the ControlPlane is admitted", func(ctx context.Context) error { return c.Create(ctx, cp) })
	expect.Object(t, c, cp, func() error {
		if !meta.IsStatusConditionFalse(cp.Status.Conditions, "InfrastructureReady") {
			return fmt.Errorf("conditions are %v", cp.Status.Conditions)
		}
		return nil
	})
}

func readControlPlane(t *testing.T, namespace string) *c5c3v1alpha1.ControlPlane {
	t.Helper()
	content, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	cp := &c5c3v1alpha1.ControlPlane{}
	if err := yaml.UnmarshalStrict(content, cp); err != nil {
		t.Fatal(err)
	}
	cp.Namespace = namespace
	return cp
}
