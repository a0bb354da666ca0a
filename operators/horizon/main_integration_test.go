//go:build integration

package main

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/installed"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
	"github.com/c5c3/forge/operators/horizon/program"
)

var chart = installed.Chart{
	Folder: "helm/horizon-operator", Options: program.Options(), Sample: "config/samples/minimal.yaml", Begun: "DeploymentReady",
}

func TestMain(m *testing.M) { chart.Main(m, thirdparty.All) }

func TestTheOperatorAsInstalledByItsChartBecomesReadyAndGuardsHorizons(t *testing.T) {
	installed.Guards(t, chart, func(p *horizonv1alpha1.Horizon) { p.Spec.PriorityClassName = new("missing") }, `Not found: "missing"`)
}

func TestANamespacedReleaseReconcilesWithARoleAlone(t *testing.T) { chart.WorksWithARole(t) }

func TestTheChartHookMayApplyTheCRD(t *testing.T) { chart.AppliesDefinitions(t) }
