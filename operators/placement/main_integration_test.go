//go:build integration

package main

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/installed"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
	"github.com/c5c3/forge/operators/placement/program"
)

var chart = installed.Chart{
	Folder: "helm/placement-operator", Options: program.Options(), Sample: "config/samples/minimal.yaml", Begun: "SecretsReady",
}

func TestMain(m *testing.M) { chart.Main(m, thirdparty.All) }

func TestTheOperatorAsInstalledByItsChartBecomesReadyAndGuardsPlacements(t *testing.T) {
	installed.Guards(t, chart, func(p *placementv1alpha1.Placement) { p.Spec.PriorityClassName = new("missing") }, `Not found: "missing"`)
}

func TestANamespacedReleaseReconcilesWithARoleAlone(t *testing.T) { chart.WorksWithARole(t) }

func TestTheChartHookMayApplyTheCRD(t *testing.T) { chart.AppliesDefinitions(t) }
