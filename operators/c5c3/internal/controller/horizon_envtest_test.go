//go:build integration

package controller_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
)

// horizon adds a Horizon to a control plane.
func horizon(cp *c5c3v1alpha1.ControlPlane) {
	cp.Spec.Services.Horizon = &c5c3v1alpha1.ServiceHorizonSpec{}
}

// reportHorizon simulates a Horizon operator that has observed the current spec.
func (w *world) reportHorizon(t *testing.T) {
	t.Helper()
	h := &horizonv1alpha1.Horizon{ObjectMeta: w.meta("controlplane-horizon")}
	expect.Exists(t, w, h)
	objects.ChangeStatus(t, w, h, func(h *horizonv1alpha1.Horizon) {
		h.Status.InstalledRelease, h.Status.ObservedGeneration = h.Spec.Image.Tag, h.Generation
		h.Status.Conditions = []metav1.Condition{{
			Type: "Ready", Status: metav1.ConditionTrue, Reason: "AllReady", ObservedGeneration: h.Generation, LastTransitionTime: metav1.Now(),
		}}
	})
}

func TestAHorizonFollowsItsControlPlane(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	horizon(w.cp)
	objects.Create(t, w, w.cp)
	w.expect(t, "HorizonReady", metav1.ConditionFalse, "WaitingForKeystone")
	w.report(t, "2025.2", "", true)
	w.expect(t, "HorizonReady", metav1.ConditionFalse, "WaitingForHorizon", "has not processed Horizon controlplane-horizon yet")
	w.reportHorizon(t)
	w.expect(t, "HorizonReady", metav1.ConditionTrue, "HorizonReady")

	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Horizon = nil })
	w.expect(t, "HorizonReady", metav1.ConditionTrue, "HorizonNotManaged")
	expect.Gone(t, w, &horizonv1alpha1.Horizon{ObjectMeta: w.meta("controlplane-horizon")})
}

func TestAForeignHorizonIsNotAdopted(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	horizon(w.cp)
	foreign := &horizonv1alpha1.Horizon{ObjectMeta: w.meta("controlplane-horizon"), Spec: horizonv1alpha1.HorizonSpec{
		ServiceSpec: commonv1.ServiceSpec{
			Image: commonv1.ImageSpec{Repository: "example.com/horizon", Tag: "2025.1"},
			Cache: commonv1.CacheSpec{Servers: []string{"memcached"}},
		},
		Identity: horizonv1alpha1.HorizonIdentitySpec{AuthURL: "https://identity.example.com/v3"},
	}}
	objects.Create(t, w, foreign, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "HorizonReady", metav1.ConditionFalse, "HorizonError", "already exists and has no controller")
}

func TestAHorizonThatTheAPIServerRefusesIsReported(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	horizon(w.cp)
	w.cp.Spec.Services.Horizon.Gateway = &commonv1.GatewaySpec{
		ParentRef: commonv1.GatewayParentRefSpec{Name: "public"}, Hostname: "horizon.example.com", Path: "/dashboard",
	}
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "HorizonReady", metav1.ConditionFalse, "HorizonProjectionRejected", "path must be '/'")
}
