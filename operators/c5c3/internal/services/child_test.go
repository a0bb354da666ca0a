package services

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func TestARollBackIsRefusedOnceTheSchemaContracts(t *testing.T) {
	const expanding, contracting = commonv1.UpgradePhaseExpanding, commonv1.UpgradePhaseContracting
	refused := []metav1.Condition{{
		Type: vocabulary.ConditionDatabaseReady, Status: metav1.ConditionFalse, Reason: vocabulary.ReasonUpgradeAbortRefused,
	}}
	for name, c := range map[string]struct {
		wanted, target string
		phase          commonv1.UpgradePhase
		conditions     []metav1.Condition
		generation     int64
		want           bool
	}{
		"contracting":             {"2025.1", "2025.2", contracting, nil, 0, true},
		"migrated offline":        {"2025.1", "2025.2", commonv1.UpgradePhaseSyncing, nil, 0, true},
		"being stopped":           {"2025.1", "2025.2", commonv1.UpgradePhaseStopping, nil, 0, false},
		"refused by the operator": {"2025.1", "2025.2", "", refused, 0, true},
		"refused an earlier spec": {"2025.1", "2025.2", "", refused, 2, false},
		"expanding":               {"2025.1", "2025.2", expanding, nil, 0, false},
		"not asked for":           {"2025.2", "2025.2", contracting, nil, 0, false},
		"no upgrade is under way": {"2025.1", "", contracting, nil, 0, false},
	} {
		s := &sundial{Status: commonv1.ServiceStatus{
			InstalledRelease: "2025.1", TargetRelease: c.target, UpgradePhase: c.phase, Conditions: c.conditions,
		}}
		s.Generation, s.Spec.Image.Tag = c.generation, c.wanted
		if got := refusesRollBack(s); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
