package controller

import (
	"testing"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestOnlyWhatBecomesKnownOnTheWayToReadyMayWaitForAStatusWrite(t *testing.T) {
	type status = commonv1.ServiceStatus
	known := status{InstalledRelease: "2025.2", Endpoint: "http://keystone"}
	for name, c := range map[string]struct {
		before, now status
		want        bool
	}{
		"the first release":       {now: status{InstalledRelease: "2025.2"}, want: true},
		"the first endpoint":      {before: status{InstalledRelease: "2025.2"}, now: known, want: true},
		"both":                    {now: known, want: true},
		"another release":         {before: known, now: status{InstalledRelease: "2026.1", Endpoint: known.Endpoint}},
		"another endpoint":        {before: known, now: status{InstalledRelease: known.InstalledRelease, Endpoint: "https://keystone"}},
		"no release anymore":      {before: known, now: status{Endpoint: known.Endpoint}},
		"another generation":      {now: status{InstalledRelease: "2025.2", ObservedGeneration: 2}},
		"the start of an upgrade": {before: known, now: status{InstalledRelease: "2025.2", Endpoint: known.Endpoint, TargetRelease: "2026.1"}},
		"an upgrade, recovered":   {now: status{InstalledRelease: "2025.2", TargetRelease: "2026.1"}},
		"the phase of an upgrade": {now: status{InstalledRelease: "2025.2", UpgradePhase: keystonev1alpha1.UpgradePhaseExpanding}},
		"what an abort has left":  {now: status{InstalledRelease: "2025.2", ExpandedRelease: "2026.1"}},
	} {
		before, now := keystonev1alpha1.KeystoneStatus{ServiceStatus: c.before}, keystonev1alpha1.KeystoneStatus{ServiceStatus: c.now}
		if got := repeats(before, now); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}
