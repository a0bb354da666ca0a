//go:build integration

package controller_test

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// installed waits until the release is.
func installed(t *testing.T, i *conformance.Instance[*placementv1alpha1.Placement], release string) {
	t.Helper()
	p := i.Resource
	expect.Object(t, world.Admin, p, func() error {
		if p.Status.InstalledRelease != release || p.Status.UpgradePhase != "" {
			return fmt.Errorf("release %q is installed, phase %q", p.Status.InstalledRelease, p.Status.UpgradePhase)
		}
		return nil
	})
	i.Ready()
}

func setTag(t *testing.T, p *placementv1alpha1.Placement, tag string) {
	t.Helper()
	objects.Change(t, world.Admin, p, func(p *placementv1alpha1.Placement) { p.Spec.Image.Tag = tag })
}

func TestAnUpgradeEndsOrIsTakenBack(t *testing.T) {
	t.Parallel()
	i := started(t)
	p := i.Resource
	installed(t, i, "2025.2")
	world.Jobs.Set(p.Namespace, "placement-db-migrate", standin.Hang())
	setTag(t, p, "2026.1")
	expect.Condition(t, world.Admin, p, "DatabaseReady", metav1.ConditionFalse, "MigrateInProgress")
	if p.Status.TargetRelease != "2026.1" {
		t.Errorf("the upgrade leads to %q", p.Status.TargetRelease)
	}
	setTag(t, p, "2025.2")
	installed(t, i, "2025.2")
	for _, name := range []string{"db-expand", "db-migrate", "db-contract"} {
		expect.Gone(t, world.Admin, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name + "-" + name}})
	}
	world.Jobs.Set(p.Namespace, "placement-db-migrate", standin.Succeed())
	setTag(t, p, "2026.1")
	installed(t, i, "2026.1")
}
