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
	"github.com/c5c3/forge/internal/common/testutil/release"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
)

const (
	chartFolder = "helm/keystone-operator"
	sample      = "config/samples/minimal.yaml"
)

var env *envtest.Env

func TestMain(m *testing.M) {
	o := envtest.Options{CRDs: []string{chartFolder + "/crds"}, Foreign: foreign.All}
	envtest.Main(m, o, func(_ context.Context, e *envtest.Env) error {
		env = e
		return nil
	})
}

func chart(t *testing.T) release.Chart {
	t.Helper()
	admitted := func(namespace string) client.Object { return readKeystone(t, namespace) }
	return release.Chart{Env: env, Folder: chartFolder, Options: options(), Admitted: admitted}
}

func TestTheOperatorAsInstalledByItsChartBecomesReadyAndGuardsKeystones(t *testing.T) {
	installed := chart(t).Read(t, "defaults")
	port := envtest.FreePort(t)
	installed.ServeWebhooksAt(port)
	installed.Create(t)
	installed.Run(t, fmt.Sprintf("--webhook-port=%d", port))

	c := env.Client(t, controller.Scheme())
	keystone := readKeystone(t, installed.Namespace)
	expect.Eventually(t, "a valid Keystone is admitted", func(ctx context.Context) error {
		return c.Create(ctx, keystone.DeepCopy(), client.DryRunAll)
	})
	invalid := keystone.DeepCopy()
	invalid.Spec.Fernet.RotationSchedule = "whenever"
	expect.Eventually(t, "a schedule that is none is refused", func(ctx context.Context) error {
		err := c.Create(ctx, invalid.DeepCopy(), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "invalid cron expression") {
			return errors.Join(errors.New("it is not"), err)
		}
		return nil
	})
	assertReconciled(t, c, keystone)
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
	assertReconciled(t, env.Client(t, controller.Scheme()), readKeystone(t, installed.Namespace))
}

func TestTheHookOfTheChartMayApplyTheDefinition(t *testing.T) {
	installed := chart(t).Read(t, "defaults")
	installed.Create(t)
	if err := installed.ApplyDefinitions(t); err != nil {
		t.Error(err)
	}
}

// assertReconciled creates the Keystone, which lacks its Secrets, and waits
// until the operator says so.
func assertReconciled(t *testing.T, c client.Client, keystone *keystonev1alpha1.Keystone) {
	t.Helper()
	if err := c.Create(t.Context(), keystone); err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "the missing Secrets are reported", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(keystone), keystone); err != nil {
			return err
		}
		if !meta.IsStatusConditionFalse(keystone.Status.Conditions, "SecretsReady") {
			return fmt.Errorf("conditions are %v", keystone.Status.Conditions)
		}
		return nil
	})
}

func readKeystone(t *testing.T, namespace string) *keystonev1alpha1.Keystone {
	t.Helper()
	content, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	keystone := &keystonev1alpha1.Keystone{}
	if err := yaml.UnmarshalStrict(content, keystone); err != nil {
		t.Fatal(err)
	}
	keystone.Namespace = namespace
	return keystone
}
