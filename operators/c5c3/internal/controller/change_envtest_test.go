//go:build integration

package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// becomes waits until the Keystone's spec passes the check.
func becomes(t *testing.T, w *world, check func(keystonev1alpha1.KeystoneSpec) bool) {
	t.Helper()
	k := w.keystone(t)
	expect.Object(t, w, k, func() error {
		if !check(k.Spec) {
			return fmt.Errorf("the Keystone is %+v", k.Spec)
		}
		return nil
	})
}

func TestFieldsUnsetInTheControlPlaneRevertToDefaults(t *testing.T) {
	t.Parallel()
	w := converged(t, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Global = &c5c3v1alpha1.GlobalSpec{
			PolicySpec:  commonv1.PolicySpec{ConfigMapRef: &corev1.LocalObjectReference{Name: "policy"}},
			ExtraConfig: map[string]map[string]string{"DEFAULT": {"debug": "true"}},
		}
		cp.Spec.Services.Keystone = &c5c3v1alpha1.ServiceKeystoneSpec{
			ServiceSpec: c5c3v1alpha1.ServiceSpec{
				Replicas: new(int32(5)),
				Gateway:  &commonv1.GatewaySpec{ParentRef: commonv1.GatewayParentRefSpec{Name: "public"}, Hostname: "keystone.example.com"},
			},
			RotationInterval: &metav1.Duration{Duration: 48 * time.Hour},
		}
	})
	becomes(t, w, func(s keystonev1alpha1.KeystoneSpec) bool {
		return s.Replicas == 5 && s.Fernet.RotationSchedule == "@every 48h" && s.Gateway != nil && s.PolicyOverrides != nil &&
			s.GlobalExtraConfig["DEFAULT"]["debug"] == "true" &&
			s.Bootstrap.PublicEndpoint == "https://keystone.example.com/v3"
	})
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Global, cp.Spec.Services.Keystone = nil, &c5c3v1alpha1.ServiceKeystoneSpec{}
	})
	becomes(t, w, func(s keystonev1alpha1.KeystoneSpec) bool {
		return s.Replicas == 3 && s.Fernet.RotationSchedule == "0 0 * * 0" && s.CredentialKeys.RotationSchedule == "0 0 * * 0" &&
			s.Gateway == nil && s.PolicyOverrides == nil && s.GlobalExtraConfig == nil && s.Bootstrap.PublicEndpoint == ""
	})
}

func TestUserSetFieldsOfTheKeystoneAreKept(t *testing.T) {
	t.Parallel()
	w := converged(t)
	objects.Change(t, w, w.keystone(t), func(k *keystonev1alpha1.Keystone) {
		k.Spec.ExtraConfig = map[string]map[string]string{"token": {"expiration": "7200"}}
		k.Spec.Fernet.MaxActiveKeys = 7
		k.Spec.Image.Tag = "2025.1"
		k.Labels["example.com/team"] = "identity"
	})
	becomes(t, w, func(s keystonev1alpha1.KeystoneSpec) bool { return s.Image.Tag == "2025.2" })
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone.Replicas = new(int32(2)) })
	becomes(t, w, func(s keystonev1alpha1.KeystoneSpec) bool {
		return s.Replicas == 2 && s.ExtraConfig["token"]["expiration"] == "7200" && s.Fernet.MaxActiveKeys == 7
	})
	if got := w.keystone(t).Labels["example.com/team"]; got != "identity" {
		t.Errorf("the label became %q", got)
	}
}

func TestTheStatusListsGlobalOptionsThatAServiceOverrides(t *testing.T) {
	t.Parallel()
	w := converged(t, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Global = &c5c3v1alpha1.GlobalSpec{ExtraConfig: map[string]map[string]string{"DEFAULT": {"debug": "true"}}}
	})
	becomes(t, w, func(s keystonev1alpha1.KeystoneSpec) bool { return s.GlobalExtraConfig["DEFAULT"]["debug"] == "true" })
	want := []commonv1.OverriddenOption{{Section: "DEFAULT", Option: "debug", By: "spec.extraConfig"}}
	for _, overridden := range [][]commonv1.OverriddenOption{want, nil} {
		objects.ChangeStatus(t, w, w.keystone(t), func(k *keystonev1alpha1.Keystone) { k.Status.OverriddenOptions = overridden })
		expect.Object(t, w, w.cp, func() error {
			if diff := cmp.Diff(overridden, w.cp.Status.Services[0].OverriddenOptions); diff != "" {
				return fmt.Errorf("overridden options (-want +got):\n%s", diff)
			}
			return nil
		})
	}
}

func TestAServiceThatAUserHasPausedIsReported(t *testing.T) {
	t.Parallel()
	w := converged(t)
	const says = "Keystone controlplane-keystone was paused separately from the ControlPlane"
	pause := func(value string) {
		objects.Annotate(t, w, w.keystone(t), vocabulary.AnnotationPaused, func(*keystonev1alpha1.Keystone) string { return value })
	}
	pause("true")
	w.expect(t, "KeystoneReady", metav1.ConditionTrue, "KeystoneReady", "is ready", says)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone.Replicas = new(int32(2)) })
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone", "has not processed", says, vocabulary.AnnotationPaused)
	pause("false")
	w.report(t, "2025.2", "", true)
	expect.Object(t, w, w.cp, func() error {
		ready := meta.FindStatusCondition(w.cp.Status.Conditions, "KeystoneReady")
		if ready.Status != metav1.ConditionTrue || strings.Contains(ready.Message, "paused") {
			return fmt.Errorf("KeystoneReady is %+v", ready)
		}
		return nil
	})
}

func TestTheUpdatePhaseFollowsTheKeystone(t *testing.T) {
	t.Parallel()
	w := converged(t)
	phase := func(want c5c3v1alpha1.UpdatePhase, release string, ready bool) {
		t.Helper()
		expect.Object(t, w, w.cp, func() error {
			service := w.cp.Status.Services[0]
			if w.cp.Status.UpdatePhase != want || service.Release != release || service.Ready != ready {
				return fmt.Errorf("the phase is %q with %+v", w.cp.Status.UpdatePhase, service)
			}
			return nil
		})
	}
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.OpenStackRelease = "2026.1" })
	phase(c5c3v1alpha1.UpdatePhaseUpdating, "2025.2", false)
	w.report(t, "2025.2", "2026.1", false)
	phase(c5c3v1alpha1.UpdatePhaseUpdatingServices, "2025.2", false)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.OpenStackRelease = "2025.2" })
	phase(c5c3v1alpha1.UpdatePhaseRollingBack, "2025.2", false)
	w.report(t, "2025.2", "", true)
	phase(c5c3v1alpha1.UpdatePhaseIdle, "2025.2", true)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.OpenStackRelease = "2026.1" })
	becomes(t, w, func(s keystonev1alpha1.KeystoneSpec) bool { return s.Image.Tag == "2026.1" })
	w.report(t, "2025.2", "2026.1", false)
	phase(c5c3v1alpha1.UpdatePhaseUpdatingServices, "2025.2", false)
	w.report(t, "2026.1", "", false)
	phase(c5c3v1alpha1.UpdatePhaseVerifying, "2026.1", false)
	w.report(t, "2026.1", "", true)
	phase(c5c3v1alpha1.UpdatePhaseIdle, "2026.1", true)
}

func TestARollbackAfterContractionIsRefusedWithAnAdvice(t *testing.T) {
	t.Parallel()
	w := converged(t)
	if w.cp.Status.UpdatePhase != c5c3v1alpha1.UpdatePhaseIdle {
		t.Errorf("the phase is %q", w.cp.Status.UpdatePhase)
	}
	to := func(release string) {
		t.Helper()
		objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.OpenStackRelease = release })
		becomes(t, w, func(s keystonev1alpha1.KeystoneSpec) bool { return s.Image.Tag == release })
	}
	to("2026.1")
	w.contract(t)
	expect.Object(t, w, w.cp, func() error {
		if w.cp.Status.UpdatePhase != c5c3v1alpha1.UpdatePhaseUpdatingServices {
			return fmt.Errorf("the phase is %q", w.cp.Status.UpdatePhase)
		}
		return nil
	})
	to("2025.2")
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "RollBackRefused", "set spec.openStackRelease to 2026.1")
	w.expect(t, "Stalled", metav1.ConditionTrue, "RollBackRefused")
	if w.cp.Status.UpdatePhase != c5c3v1alpha1.UpdatePhaseUpdatingServices {
		t.Errorf("the phase is %q", w.cp.Status.UpdatePhase)
	}
	to("2026.1")
	w.report(t, "2026.1", "", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

// contract simulates a Keystone operator that has begun to contract the schema.
func (w *world) contract(t *testing.T) {
	t.Helper()
	objects.ChangeStatus(t, w, w.keystone(t), func(k *keystonev1alpha1.Keystone) {
		k.Status.TargetRelease, k.Status.UpgradePhase = "2026.1", commonv1.UpgradePhaseContracting
	})
}

func TestAnUnsetKeystoneIsRetainedUnlessItsDeletionIsAllowed(t *testing.T) {
	t.Parallel()
	w := converged(t)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone = nil })
	w.expect(t, "KeystoneReady", metav1.ConditionTrue, "KeystoneNotManaged", "is kept unless the annotation c5c3.io/allow-keystone-deletion")
	if w.cp.Status.Services != nil {
		t.Errorf("services are %v", w.cp.Status.Services)
	}
	keystone := w.keystone(t)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		metav1.SetMetaDataAnnotation(&cp.ObjectMeta, c5c3v1alpha1.AnnotationAllowKeystoneDeletion, "true")
	})
	expect.Gone(t, w, keystone)
}

func TestPlacementIsUpdatedAfterKeystoneAndRefusesALateRollback(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, services.Placement)
	to := func(release string) {
		objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.OpenStackRelease = release })
	}
	to("2026.1")
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone")
	if tag := w.resource(t, services.Placement).ServiceSpec().Image.Tag; tag != "2025.2" {
		t.Errorf("Placement is updated to %s before Keystone is", tag)
	}
	w.report(t, "2026.1", "", true)
	p := &placementv1alpha1.Placement{ObjectMeta: w.meta("controlplane-placement")}
	expect.Object(t, w, p, func() error {
		if p.Spec.Image.Tag != "2026.1" {
			return fmt.Errorf("it has %s", p.Spec.Image.Tag)
		}
		return nil
	})
	objects.ChangeStatus(t, w, p, func(p *placementv1alpha1.Placement) {
		p.Status.TargetRelease, p.Status.UpgradePhase = "2026.1", commonv1.UpgradePhaseExpanding
		meta.SetStatusCondition(&p.Status.Conditions, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "NotAllReady", ObservedGeneration: p.Generation,
			Message: "the expansion failed; set image.tag back to 2025.2 to abort the upgrade",
		})
		meta.SetStatusCondition(&p.Status.Conditions, metav1.Condition{
			Type: "DatabaseReady", Status: metav1.ConditionFalse, Reason: "ExpandFailed", ObservedGeneration: p.Generation,
		})
	})
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "WaitingForPlacement",
		"cannot be set back, because Keystone already has 2026.1; spec.services.placement.image sets the image of Placement alone")
	objects.ChangeStatus(t, w, p, func(p *placementv1alpha1.Placement) { p.Status.UpgradePhase = commonv1.UpgradePhaseContracting })
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Services.Placement.Image = &commonv1.ImageSpec{Repository: "ghcr.io/c5c3/placement", Tag: "2025.2"}
	})
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "RollBackRefused", "set spec.services.placement.image.tag to 2026.1")
}
