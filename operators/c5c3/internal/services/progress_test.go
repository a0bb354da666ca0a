package services

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

func TestTheFieldThatSetsTheKeystonesReleaseIsNamed(t *testing.T) {
	const downgrade = vocabulary.ReasonDowngradeNotSupported
	refused := "Not ready: going back is not possible; set image.tag to 2026.1 or later"
	own := &c5c3v1alpha1.ServiceKeystoneSpec{ServiceSpec: c5c3v1alpha1.ServiceSpec{Image: &commonv1.ImageSpec{Tag: "2025.2"}}}
	for _, c := range []struct {
		service                *c5c3v1alpha1.ServiceKeystoneSpec
		reason, says, progress string
	}{
		{&c5c3v1alpha1.ServiceKeystoneSpec{}, downgrade, refused, refused + "; here spec.openStackRelease sets image.tag"},
		{own, downgrade, refused, refused + "; here spec.services.keystone.image.tag sets image.tag"},
		{own, downgrade, "Not ready: in other words", "Not ready: in other words; here spec.services.keystone.image.tag sets image.tag"},
		{own, vocabulary.ReasonClusterNotReady, "Not ready: no database", "Not ready: no database"},
	} {
		cp := &c5c3v1alpha1.ControlPlane{}
		cp.Spec.Services.Keystone = c.service
		keystone := &keystonev1alpha1.Keystone{ObjectMeta: metav1.ObjectMeta{Name: "cloud-keystone"}}
		keystone.Status.Conditions = unready(c.reason, c.says)
		want := "Keystone cloud-keystone is not ready: " + c.progress
		if got := All.progress(cp, Keystone, keystone); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAServiceThatCannotRollBackNamesTheFieldOfItsImage(t *testing.T) {
	const failed = vocabulary.ReasonExpandFailed
	expanding := "expanding the database schema failed; set image.tag back to 2025.2 to abort the upgrade"
	sets := "; here spec.openStackRelease sets image.tag"
	for _, c := range []struct {
		keystone, own, reason, says, progress string
	}{
		{"2025.2", "", failed, expanding, expanding + sets},
		{"2025.2-fixed", "", failed, expanding, expanding + sets},
		{"2026.1", "", failed, expanding, expanding + sets +
			", and it cannot be set back, because Keystone already has 2026.1; spec.services.placement.image sets the image of Placement alone"},
		{"2026.1", "2026.1", failed, expanding, expanding + "; here spec.services.placement.image.tag sets image.tag"},
		{"2026.1", "", vocabulary.ReasonClusterNotReady, "no database", "no database"},
	} {
		cp := &c5c3v1alpha1.ControlPlane{}
		cp.Spec.Services.Placement = &c5c3v1alpha1.ServicePlacementSpec{}
		if c.own != "" {
			cp.Spec.Services.Placement.Image = &commonv1.ImageSpec{Tag: c.own}
		}
		cp.Status.Services = []c5c3v1alpha1.ServiceStatus{{Name: "keystone", Release: c.keystone}, {Name: "placement", Release: "2025.2"}}
		placement := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Name: "cloud-placement"}}
		placement.Status.InstalledRelease = "2025.2"
		placement.Status.Conditions = unready(c.reason, c.says)
		if c.reason == failed {
			placement.Status.TargetRelease, placement.Status.UpgradePhase = "2026.1", commonv1.UpgradePhaseExpanding
		}
		want := "Placement cloud-placement is not ready: " + c.progress
		if got := All.progress(cp, Placement, placement); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// unready are conditions of a service whose database does not fit for a reason.
func unready(reason, message string) []metav1.Condition {
	return []metav1.Condition{
		{Type: vocabulary.ConditionReady, Status: metav1.ConditionFalse, Message: message},
		{Type: vocabulary.ConditionDatabaseReady, Status: metav1.ConditionFalse, Reason: reason},
	}
}

func TestTheConditionOfAServiceDeterminesWhetherItsTagIsExplained(t *testing.T) {
	const installed, wanted = "2025.2", "2026.1"
	during := func(phase commonv1.UpgradePhase) commonv1.ServiceStatus {
		return commonv1.ServiceStatus{InstalledRelease: installed, TargetRelease: wanted, UpgradePhase: phase}
	}
	before := commonv1.ServiceStatus{InstalledRelease: installed}
	for title, c := range map[string]struct {
		reason string
		status commonv1.ServiceStatus
		want   bool
	}{
		"no release":                        {vocabulary.ReasonVersionParseError, before, true},
		"an earlier release":                {vocabulary.ReasonDowngradeNotSupported, before, true},
		"a database of a later release":     {vocabulary.ReasonDatabaseNewerThanImage, before, true},
		"an image of another release":       {vocabulary.ReasonReleaseDiffers, before, true},
		"another target":                    {vocabulary.ReasonUpgradeTargetChanged, during(commonv1.UpgradePhaseContracting), true},
		"an abort that comes too late":      {vocabulary.ReasonUpgradeAbortRefused, during(commonv1.UpgradePhaseContracting), true},
		"an expansion that fails":           {vocabulary.ReasonExpandFailed, during(commonv1.UpgradePhaseExpanding), true},
		"an expansion that makes progress":  {vocabulary.ReasonExpandInProgress, during(commonv1.UpgradePhaseExpanding), false},
		"pods that are replaced":            {vocabulary.ReasonUpgradeRollingUpdate, during(commonv1.UpgradePhaseRollingUpdate), false},
		"a migration that fails":            {vocabulary.ReasonMigrateFailed, during(commonv1.UpgradePhaseMigrating), true},
		"an offline migration that fails":   {vocabulary.ReasonMigrateFailed, during(commonv1.UpgradePhaseSyncing), false},
		"a contraction that fails":          {vocabulary.ReasonContractFailed, during(commonv1.UpgradePhaseContracting), false},
		"pods that stop":                    {vocabulary.ReasonUpgradeStopping, during(commonv1.UpgradePhaseStopping), true},
		"an upgrade that is held":           {vocabulary.ReasonUpgradeHeld, during(commonv1.UpgradePhaseStopping), true},
		"an image that is tried":            {vocabulary.ReasonSchemaCheckInProgress, before, false},
		"an image that fails":               {vocabulary.ReasonDBSyncFailed, before, true},
		"a first installation that fails":   {vocabulary.ReasonDBSyncFailed, commonv1.ServiceStatus{}, false},
		"an installed schema that is wrong": {vocabulary.ReasonDBSyncFailed, commonv1.ServiceStatus{InstalledRelease: wanted}, false},
		"a skipped release":                 {vocabulary.ReasonUpgradePathInvalid, before, false},
		"no database":                       {vocabulary.ReasonClusterNotReady, before, false},
	} {
		placement := &placementv1alpha1.Placement{}
		placement.Spec.Image.Tag = wanted
		placement.Status.ServiceStatus = c.status
		placement.Status.Conditions = unready(c.reason, "")
		if got := asksForTag(placement); got != c.want {
			t.Errorf("%s (%s): %t, want %t", title, c.reason, got, c.want)
		}
	}
}
