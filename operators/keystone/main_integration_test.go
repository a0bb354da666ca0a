//go:build integration

package main

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/installed"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/program"
)

var chart = installed.Chart{
	Folder: "helm/keystone-operator", Options: program.Options(), Sample: "config/samples/minimal.yaml", Begun: "SecretsReady",
}

func TestMain(m *testing.M) { chart.Main(m, thirdparty.All) }

func TestTheOperatorAsInstalledByItsChartBecomesReadyAndGuardsKeystones(t *testing.T) {
	installed.Guards(t, chart, func(k *keystonev1alpha1.Keystone) { k.Spec.Fernet.RotationSchedule = "whenever" }, "invalid cron expression")
}

func TestANamespacedReleaseReconcilesWithARoleAlone(t *testing.T) { chart.WorksWithARole(t) }

func TestTheChartHookMayApplyTheCRD(t *testing.T) { chart.AppliesDefinitions(t) }
