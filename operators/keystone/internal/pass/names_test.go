package pass_test

import (
	"testing"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestCronJobsUseTheImageOfTheInstalledSchema(t *testing.T) {
	for name, test := range map[string]struct {
		status commonv1.ServiceStatus
		want   string
	}{
		"before the first installation": {want: "2025.2"},
		"before a patch is synced":      {status: commonv1.ServiceStatus{InstalledRelease: "2025.2-old"}, want: "2025.2-old"},
		"while the schema is expanded": {
			status: commonv1.ServiceStatus{
				InstalledRelease: "2025.1", TargetRelease: "2025.2", UpgradePhase: commonv1.UpgradePhaseExpanding,
			}, want: "2025.1",
		},
		"while the pods are replaced": {
			status: commonv1.ServiceStatus{
				InstalledRelease: "2025.1", TargetRelease: "2025.2", UpgradePhase: commonv1.UpgradePhaseRollingUpdate,
			}, want: "2025.1",
		},
		"from the contraction on": {
			status: commonv1.ServiceStatus{
				InstalledRelease: "2025.1", TargetRelease: "2025.2", UpgradePhase: commonv1.UpgradePhaseContracting,
			}, want: "2025.2",
		},
		"while an offline upgrade stops the pods": {
			status: commonv1.ServiceStatus{
				InstalledRelease: "2022.2", TargetRelease: "2025.1", UpgradePhase: commonv1.UpgradePhaseStopping,
			}, want: "2025.1",
		},
		"while the database is migrated offline": {
			status: commonv1.ServiceStatus{
				InstalledRelease: "2022.2", TargetRelease: "2025.1", UpgradePhase: commonv1.UpgradePhaseSyncing,
			}, want: "2025.1",
		},
		"once it is installed": {status: commonv1.ServiceStatus{InstalledRelease: "2025.2"}, want: "2025.2"},
	} {
		t.Run(name, func(t *testing.T) {
			k := fixture.Minimal()
			k.Status.ServiceStatus = test.status
			if got, want := pass.ScheduledImage(k), "ghcr.io/c5c3/keystone:"+test.want; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestCronJobsUseADigestOnceAJobHasLookedIntoItsImage(t *testing.T) {
	const repository = "ghcr.io/c5c3/keystone:"
	known := func(images ...string) (all []commonv1.ImageStatus) {
		for _, image := range images {
			all = append(all, commonv1.ImageStatus{Reference: repository + image})
		}
		return all
	}
	upgrading := commonv1.ServiceStatus{
		InstalledRelease: "2025.1", TargetRelease: "2025.2", UpgradePhase: commonv1.UpgradePhaseRollingUpdate,
	}
	for name, test := range map[string]struct {
		status commonv1.ServiceStatus
		images []commonv1.ImageStatus
		want   string
	}{
		"once it is installed":         {commonv1.ServiceStatus{InstalledRelease: "2025.2"}, known("2025.2@sha256:new"), "2025.2@sha256:new"},
		"while a first one is checked": {commonv1.ServiceStatus{InstalledRelease: "2025.2"}, known("2025.2"), "2025.2"},
		"while another one is checked": {commonv1.ServiceStatus{InstalledRelease: "2025.2"}, known("2025.2@sha256:old"), "2025.2@sha256:old"},
		"during an upgrade":            {upgrading, known("2025.1@sha256:old", "2025.2@sha256:new"), "2025.1@sha256:old"},
		"during one from a tag alone":  {upgrading, known("2025.1", "2025.2@sha256:new"), "2025.1"},
	} {
		k := fixture.Minimal()
		k.Spec.Image.Digest = "sha256:new"
		k.Status.ServiceStatus = test.status
		k.Status.Images = test.images
		if got := pass.ScheduledImage(k); got != repository+test.want {
			t.Errorf("%s: got %s, want %s", name, got, repository+test.want)
		}
	}
}
