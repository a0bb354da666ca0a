//go:build integration

package main

import (
	"context"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/foreign"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/release"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
)

const chartFolder = "helm/c5c3-operator"

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

func chart() release.Chart {
	return release.Chart{
		Env: env, Folder: chartFolder, Options: options(), Sample: "config/samples/minimal.yaml", Begun: "InfrastructureReady",
	}
}

func TestTheOperatorAsInstalledByItsChartBecomesReadyAndGuardsControlPlanes(t *testing.T) {
	release.Guards(t, chart(), func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Infrastructure.Database.Replicas = new(int32(2))
	}, "spec.infrastructure.database.replicas")
}

func TestANamespacedReleaseReconcilesWithARoleAlone(t *testing.T) { chart().WorksWithARole(t) }

func TestAnIgnoredNamespaceIsLeftToAnOperatorOfItsOwn(t *testing.T) {
	c := env.Client(t, controller.Scheme())
	ignored := chart().Resource(t, env.Namespace(t)).(*c5c3v1alpha1.ControlPlane)
	objects.Create(t, c, ignored)
	installed := chart().Read(t, "defaults")
	installed.RunWithWebhooks(t, "--ignore-namespaces="+ignored.Namespace)
	// The ignored one was there first: it would have been looked at before this one.
	chart().ExpectWork(t, env.Namespace(t))
	expect.Exists(t, c, ignored)
	if len(ignored.Status.Conditions) > 0 || len(ignored.Finalizers) > 0 {
		t.Errorf("the operator has worked on it: finalizers %v, conditions %v", ignored.Finalizers, ignored.Status.Conditions)
	}
}

func TestTheHookOfTheChartMayApplyTheDefinitions(t *testing.T) { chart().AppliesDefinitions(t) }
