//go:build integration

package controller_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

// volume is a backend on a claim of its name.
func volume(name string) c5c3v1alpha1.ServiceGlanceBackendSpec {
	return c5c3v1alpha1.ServiceGlanceBackendSpec{Name: name, BackendSpec: glancev1alpha1.BackendSpec{
		Type: glancev1alpha1.BackendFile, File: &glancev1alpha1.FileSpec{Claim: name},
	}}
}

// glance adds a Glance with backends to a control plane.
func (w *world) glance(backends ...string) {
	w.seedService(services.Glance)
	w.cp.Spec.Services.Glance = &c5c3v1alpha1.ServiceGlanceSpec{}
	for _, name := range backends {
		w.cp.Spec.Services.Glance.Backends = append(w.cp.Spec.Services.Glance.Backends, volume(name))
	}
}

// reportGlance simulates a Glance operator that has observed the current spec.
func (w *world) reportGlance(t *testing.T) *glancev1alpha1.Glance {
	t.Helper()
	w.reportService(t, services.Glance, "2025.2", true)
	return w.resource(t, services.Glance).(*glancev1alpha1.Glance)
}

// reportBackend simulates a Glance operator whose pods have the backend.
func (w *world) reportBackend(t *testing.T, name string) *glancev1alpha1.GlanceBackend {
	t.Helper()
	b := &glancev1alpha1.GlanceBackend{ObjectMeta: w.meta(name)}
	expect.Exists(t, w, b)
	w.judge(t, b, metav1.ConditionTrue, "AllReady", "")
	return b
}

// judged is a resource with conditions.
type judged interface {
	client.Object
	SetConditions([]metav1.Condition)
}

func (w *world) judge(t *testing.T, one judged, status metav1.ConditionStatus, reason, message string) {
	t.Helper()
	objects.ChangeStatus(t, w, one, func(one judged) {
		one.SetConditions([]metav1.Condition{{
			Type: "Ready", Status: status, Reason: reason, Message: message,
			ObservedGeneration: one.GetGeneration(), LastTransitionTime: metav1.Now(),
		}})
	})
}

func TestBackendsComeAndGoWithTheGlanceOfTheirControlPlane(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	w.glance("images")
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	g := w.reportGlance(t)
	w.expect(t, "GlanceReady", metav1.ConditionFalse, "WaitingForGlance", "GlanceBackend images is not ready")
	b := w.reportBackend(t, "images")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	if g.Spec.DefaultBackend != "images" || b.Spec.GlanceRef.Name != g.Name {
		t.Errorf("backend %+v of a Glance with the default %q", b.Spec, g.Spec.DefaultBackend)
	}
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Glance = nil })
	w.expect(t, "GlanceReady", metav1.ConditionTrue, "GlanceNotManaged")
	expect.Exists(t, w, g)
	expect.Exists(t, w, b)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Annotations = map[string]string{c5c3v1alpha1.AnnotationAllowGlanceDeletion: "true"}
	})
	expect.Gone(t, w, g)
	expect.Gone(t, w, b)
}

func TestARemovedBackendIsAwaitedUntilItIsGone(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	w.glance("old", "new")
	objects.Create(t, w, w.cp)
	other := &glancev1alpha1.GlanceBackend{ObjectMeta: w.meta("other"), Spec: glancev1alpha1.GlanceBackendSpec{
		GlanceRef: commonv1.ServiceReference{Name: "controlplane-glance"}, BackendSpec: volume("other").BackendSpec,
	}}
	objects.Create(t, w, other)
	w.report(t, "2025.2", "", true)
	w.reportGlance(t)
	old := w.reportBackend(t, "old")
	w.reportBackend(t, "new")
	w.expect(t, "GlanceReady", metav1.ConditionTrue, "GlanceReady")

	objects.Change(t, w, old, func(b *glancev1alpha1.GlanceBackend) { b.Finalizers = []string{"glance.openstack.c5c3.io/in-use"} })
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Services.Glance.Backends = []c5c3v1alpha1.ServiceGlanceBackendSpec{volume("new")}
	})
	w.expect(t, "GlanceReady", metav1.ConditionFalse, "WaitingForGlance")
	g := w.reportGlance(t)
	w.expect(t, "GlanceReady", metav1.ConditionFalse, "WaitingForGlance", "GlanceBackend old is being deleted")
	if g.Spec.DefaultBackend != "new" {
		t.Errorf("the default is %q", g.Spec.DefaultBackend)
	}
	expect.Exists(t, w, old)
	w.judge(t, old, metav1.ConditionFalse, "InUse", "3 images are in it")
	w.expect(t, "GlanceReady", metav1.ConditionFalse, "WaitingForGlance", "GlanceBackend old is being deleted: 3 images are in it")

	objects.Change(t, w, old, func(b *glancev1alpha1.GlanceBackend) { b.Finalizers = nil })
	expect.Gone(t, w, old)
	w.expect(t, "GlanceReady", metav1.ConditionTrue, "GlanceReady")
	// The control plane has not made it.
	expect.Exists(t, w, other)
}
