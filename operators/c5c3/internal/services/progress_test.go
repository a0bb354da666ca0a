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
	refused := "Not ready: going back is not possible; set image.tag to 2026.1 or later"
	own := &c5c3v1alpha1.ServiceKeystoneSpec{ServiceSpec: c5c3v1alpha1.ServiceSpec{Image: &commonv1.ImageSpec{Tag: "2025.2"}}}
	for _, c := range []struct {
		service        *c5c3v1alpha1.ServiceKeystoneSpec
		says, progress string
	}{
		{&c5c3v1alpha1.ServiceKeystoneSpec{}, refused, refused + "; here spec.openStackRelease sets image.tag"},
		{own, refused, refused + "; here spec.services.keystone.image.tag sets image.tag"},
		{own, "Not ready: no database", "Not ready: no database"},
	} {
		cp := &c5c3v1alpha1.ControlPlane{}
		cp.Spec.Services.Keystone = c.service
		keystone := &keystonev1alpha1.Keystone{ObjectMeta: metav1.ObjectMeta{Name: "cloud-keystone"}}
		keystone.Status.Conditions = []metav1.Condition{{
			Type: vocabulary.ConditionReady, Status: metav1.ConditionFalse, Message: c.says,
		}}
		want := "Keystone cloud-keystone is not ready: " + c.progress
		if got := All.progress(cp, Keystone, keystone); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAServiceThatCannotFollowTheReleaseBackNamesTheFieldOfItsImage(t *testing.T) {
	expanding := "expanding the database schema failed; set image.tag back to 2025.2 to abort the upgrade"
	sets := "; here spec.openStackRelease sets image.tag"
	for _, c := range []struct {
		keystone, own, says, progress string
	}{
		{"2025.2", "", expanding, expanding + sets},
		{"2025.2-fixed", "", expanding, expanding + sets},
		{"2026.1", "", expanding, expanding + sets +
			", and it cannot be set back, because Keystone already has 2026.1; spec.services.placement.image sets the image of Placement alone"},
		{"2026.1", "2026.1", expanding, expanding + "; here spec.services.placement.image.tag sets image.tag"},
		{"2026.1", "", "no database", "no database"},
	} {
		cp := &c5c3v1alpha1.ControlPlane{}
		cp.Spec.Services.Placement = &c5c3v1alpha1.ServicePlacementSpec{}
		if c.own != "" {
			cp.Spec.Services.Placement.Image = &commonv1.ImageSpec{Tag: c.own}
		}
		cp.Status.Services = []c5c3v1alpha1.ServiceStatus{{Name: "keystone", Release: c.keystone}, {Name: "placement", Release: "2025.2"}}
		placement := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Name: "cloud-placement"}}
		placement.Status.InstalledRelease = "2025.2"
		placement.Status.Conditions = []metav1.Condition{{
			Type: vocabulary.ConditionReady, Status: metav1.ConditionFalse, Message: c.says,
		}}
		want := "Placement cloud-placement is not ready: " + c.progress
		if got := All.progress(cp, Placement, placement); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
