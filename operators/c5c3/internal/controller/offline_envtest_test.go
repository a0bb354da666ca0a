//go:build integration

package controller_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

const farRelease = "2027.2"

// goOffline requests an offline upgrade of the control plane to farRelease.
func (w *world) goOffline(t *testing.T) {
	t.Helper()
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.OpenStackRelease = farRelease
		metav1.SetMetaDataAnnotation(&cp.ObjectMeta, commonv1.AnnotationOfflineUpgrade, farRelease)
	})
}

// placementHas waits until the Placement has the tag and exactly these annotations.
func (w *world) placementHas(t *testing.T, tag string, annotations map[string]string) {
	t.Helper()
	p := &placementv1alpha1.Placement{ObjectMeta: w.meta("controlplane-placement")}
	expect.Object(t, w, p, func() error {
		if diff := cmp.Diff(annotations, p.Annotations); diff != "" || p.Spec.Image.Tag != tag {
			return fmt.Errorf("it has tag %s and annotations (-want +got):\n%s", p.Spec.Image.Tag, diff)
		}
		return nil
	})
}

// placementIsHeld simulates a Placement operator that has stopped the pods.
func (w *world) placementIsHeld(t *testing.T) {
	t.Helper()
	objects.ChangeStatus(t, w, w.resource(t, services.Placement).(*placementv1alpha1.Placement), func(p *placementv1alpha1.Placement) {
		p.Status.TargetRelease, p.Status.UpgradePhase = farRelease, commonv1.UpgradePhaseStopping
		for _, c := range []metav1.Condition{{Type: "DatabaseReady", Reason: "UpgradeHeld"}, {Type: "Ready", Reason: "NotAllReady"}} {
			c.Status, c.ObservedGeneration = metav1.ConditionFalse, p.Generation
			meta.SetStatusCondition(&p.Status.Conditions, c)
		}
	})
}

var (
	requested = map[string]string{commonv1.AnnotationOfflineUpgrade: farRelease}
	heldBack  = map[string]string{commonv1.AnnotationOfflineUpgrade: farRelease, commonv1.AnnotationHoldUpgrade: farRelease}
)

func TestAControlPlaneIsUpgradedOfflineByOneRequest(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, services.Placement)
	w.goOffline(t)
	w.placementHas(t, farRelease, heldBack)
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone", "waiting for Placement controlplane-placement")
	if tag := w.keystone(t).Spec.Image.Tag; tag != "2025.2" {
		t.Errorf("Keystone has %s while Placement runs", tag)
	}
	w.placementIsHeld(t)
	becomes(t, w, isFar)
	if diff := cmp.Diff(requested, w.keystone(t).Annotations); diff != "" {
		t.Errorf("annotations of the Keystone (-want +got):\n%s", diff)
	}
	w.report(t, "2025.2", farRelease, false)
	w.expect(t, "PlacementReady", metav1.ConditionFalse, "WaitingForKeystone")
	w.placementHas(t, farRelease, heldBack)
	w.report(t, farRelease, "", true)
	w.placementHas(t, farRelease, requested)
	w.reportService(t, services.Placement, farRelease, true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAnOfflineUpgradeOfAControlPlaneIsTakenBackBeforeKeystoneMigrates(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, services.Placement)
	w.goOffline(t)
	w.placementHas(t, farRelease, heldBack)
	w.placementIsHeld(t)
	becomes(t, w, isFar)
	w.report(t, "2025.2", farRelease, false)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.OpenStackRelease = "2025.2" })
	becomes(t, w, func(s keystonev1alpha1.KeystoneSpec) bool { return s.Image.Tag == "2025.2" })
	w.report(t, "2025.2", "", true)
	w.placementHas(t, "2025.2", nil)
	w.reportService(t, services.Placement, "2025.2", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	if w.cp.Status.UpdatePhase != c5c3v1alpha1.UpdatePhaseIdle {
		t.Errorf("the update is in phase %s", w.cp.Status.UpdatePhase)
	}
}

func isFar(s keystonev1alpha1.KeystoneSpec) bool { return s.Image.Tag == farRelease }
