//go:build integration

package main

import (
	"context"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/foreign"
	"github.com/c5c3/forge/internal/common/testutil/release"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const chartFolder = "helm/keystone-operator"

var env *envtest.Env

func TestMain(m *testing.M) {
	o := envtest.Options{CRDs: []string{chartFolder + "/crds"}, Foreign: foreign.All}
	envtest.Main(m, o, func(_ context.Context, e *envtest.Env) error {
		env = e
		return nil
	})
}

func chart() release.Chart {
	return release.Chart{
		Env: env, Folder: chartFolder, Options: options(), Sample: "config/samples/minimal.yaml", Begun: "SecretsReady",
	}
}

func TestTheOperatorAsInstalledByItsChartBecomesReadyAndGuardsKeystones(t *testing.T) {
	release.Guards(t, chart(), func(k *keystonev1alpha1.Keystone) { k.Spec.Fernet.RotationSchedule = "whenever" }, "invalid cron expression")
}

func TestANamespacedReleaseReconcilesWithARoleAlone(t *testing.T) { chart().WorksWithARole(t) }

func TestTheHookOfTheChartMayApplyTheDefinition(t *testing.T) { chart().AppliesDefinitions(t) }
