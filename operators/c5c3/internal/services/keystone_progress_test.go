package services

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
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
			Type: keystonev1alpha1.ConditionReady, Status: metav1.ConditionFalse, Message: c.says,
		}}
		want := "Keystone cloud-keystone is not ready: " + c.progress
		if got := Keystone.progress(cp, keystone); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
