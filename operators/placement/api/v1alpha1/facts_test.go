package v1alpha1

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func TestAPlacementIsFoundWhereItServes(t *testing.T) {
	in := cluster.Settings{Domain: "example.local"}
	if got, want := InternalEndpoint(in, "tenant", "cloud"), "http://cloud.tenant.svc.example.local:8778"; got != want {
		t.Errorf("inside the cluster it is at %s, want %s", got, want)
	}
	if got, want := GatewayEndpoint("placement.example.com"), "https://placement.example.com"; got != want {
		t.Errorf("through a Gateway it is at %s, want %s", got, want)
	}
	if got, want := StorePath(in, "tenant", "cloud", "db"), "openstack/placement/tenant/cloud/db"; got != want {
		t.Errorf("its credentials are stored at %s, want %s", got, want)
	}
}

func TestAPlacementAnswersAboutItsUpgrade(t *testing.T) {
	database := func(reason string) metav1.Condition {
		return metav1.Condition{Type: vocabulary.ConditionDatabaseReady, Status: metav1.ConditionFalse, Reason: reason, ObservedGeneration: 2}
	}
	for name, c := range map[string]struct {
		status  commonv1.ServiceStatus
		refuses bool
	}{
		"no upgrade": {status: commonv1.ServiceStatus{InstalledRelease: "2025.2"}},
		"an upgrade that goes back": {
			status: commonv1.ServiceStatus{InstalledRelease: "2025.2", TargetRelease: "2026.1", UpgradePhase: commonv1.UpgradePhaseMigrating},
		},
		"a contraction": {
			status:  commonv1.ServiceStatus{InstalledRelease: "2025.2", TargetRelease: "2026.1", UpgradePhase: commonv1.UpgradePhaseContracting},
			refuses: true,
		},
		"a refused way back": {
			status: commonv1.ServiceStatus{
				InstalledRelease: "2025.2", TargetRelease: "2026.1",
				Conditions: []metav1.Condition{database(vocabulary.ReasonUpgradeAbortRefused)},
			},
			refuses: true,
		},
	} {
		p := minimal()
		p.Generation, p.Status.ServiceStatus = 2, c.status
		if got := p.RefusesRollBack(); got != c.refuses {
			t.Errorf("%s: refuses the way back: %t, want %t", name, got, c.refuses)
		}
	}
}

func TestAPlacementAsksForAnImageTagInReady(t *testing.T) {
	p := minimal()
	if p.AsksForImageTag() {
		t.Error("a Placement without conditions asks for a tag")
	}
	ready := metav1.Condition{
		Type: vocabulary.ConditionReady, Status: metav1.ConditionFalse, Message: "set " + commonv1.ImageTagField + " to 2026.1",
	}
	p.Status.Conditions = []metav1.Condition{ready}
	if !p.AsksForImageTag() {
		t.Error("a Placement that asks for a tag does not say so")
	}
}
