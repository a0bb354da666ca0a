//go:build integration

package main

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/installed"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
)

var chart = installed.Chart{
	Folder: "helm/c5c3-operator", Options: options(), Sample: "config/samples/minimal.yaml", Begun: "InfrastructureReady",
}

func TestMain(m *testing.M) {
	chart.Main(m,
		[]thirdparty.Project{thirdparty.MariaDB, thirdparty.ExternalSecrets, thirdparty.KORC},
		"../keystone/config/crd/bases", "../../deploy/infra/memcached-operator/crd.yaml")
}

func TestTheOperatorAsInstalledByItsChartBecomesReadyAndGuardsControlPlanes(t *testing.T) {
	installed.Guards(t, chart, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Infrastructure.Database.Replicas = new(int32(2))
	}, "spec.infrastructure.database.replicas")
}

func TestANamespacedReleaseReconcilesWithARoleAlone(t *testing.T) { chart.WorksWithARole(t) }

func TestAnIgnoredNamespaceIsLeftToAnOperatorOfItsOwn(t *testing.T) {
	c := chart.Env.Client(t, controller.Scheme())
	ignored := chart.Resource(t, chart.Env.Namespace(t)).(*c5c3v1alpha1.ControlPlane)
	objects.Create(t, c, ignored)
	installed := chart.Read(t, "defaults")
	installed.RunWithWebhooks(t, "--ignore-namespaces="+ignored.Namespace)
	// The ignored one was there first: it would have been looked at before this one.
	chart.ExpectWork(t, chart.Env.Namespace(t))
	expect.Exists(t, c, ignored)
	if len(ignored.Status.Conditions) > 0 || len(ignored.Finalizers) > 0 {
		t.Errorf("the operator has worked on it: finalizers %v, conditions %v", ignored.Finalizers, ignored.Status.Conditions)
	}
}

func TestTheChartHookMayApplyTheCRDs(t *testing.T) { chart.AppliesDefinitions(t) }
