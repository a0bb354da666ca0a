//go:build integration

package controller_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// barbican adds a Barbican to a control plane, with credentials for its database.
func (w *world) barbican() {
	secrets.Put("openstack/barbican/"+w.cp.Namespace+"/controlplane/db", map[string]string{"username": "barbican", "password": "p"})
	w.cp.Spec.Services.Barbican = &c5c3v1alpha1.ServiceBarbicanSpec{}
}

// reportBarbican simulates a Barbican operator that has observed the current spec.
func (w *world) reportBarbican(t *testing.T) *barbicanv1alpha1.Barbican {
	t.Helper()
	b := &barbicanv1alpha1.Barbican{ObjectMeta: w.meta("controlplane-barbican")}
	expect.Exists(t, w, b)
	objects.ChangeStatus(t, w, b, func(b *barbicanv1alpha1.Barbican) {
		b.Status.Conditions = []metav1.Condition{{
			Type: "Ready", Status: metav1.ConditionTrue, Reason: "AllReady", ObservedGeneration: b.Generation, LastTransitionTime: metav1.Now(),
		}}
		b.Status.InstalledRelease = "2025.2"
	})
	return b
}

func TestABarbicanFollowsItsControlPlane(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	w.barbican()
	objects.Create(t, w, w.cp)
	w.expect(t, "BarbicanReady", metav1.ConditionFalse, "WaitingForKeystone")
	w.report(t, "2025.2", "", true)
	w.expect(t, "BarbicanReady", metav1.ConditionFalse, "WaitingForBarbican", "has not processed Barbican controlplane-barbican yet")
	b := w.reportBarbican(t)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	if b.Spec.Database.Database != "barbican" || b.Spec.Database.SecretRef.Name != "controlplane-barbican-db-credentials" {
		t.Errorf("its database is %+v", b.Spec.Database)
	}
	w.catalogServices(t, "barbican", "keystone")
	w.expect(t, "CatalogReady", metav1.ConditionTrue, "CatalogRegistered",
		"Barbican at http://controlplane-barbican."+w.cp.Namespace+".svc.cluster.local:9311")

	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Barbican = nil })
	w.expect(t, "BarbicanReady", metav1.ConditionTrue, "BarbicanNotManaged", "kept unless the annotation c5c3.io/allow-barbican-deletion")
	expect.Exists(t, w, b)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Annotations = map[string]string{c5c3v1alpha1.AnnotationAllowBarbicanDeletion: "true"}
	})
	w.catalogServices(t, "keystone")
	expect.Gone(t, w, b)
}
