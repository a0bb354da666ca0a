//go:build integration

package controller_test

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// directories sets the identity backends of a control plane.
func directories(names ...string) func(*c5c3v1alpha1.ControlPlane) {
	return func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Services.Keystone.IdentityBackends = nil
		for _, name := range names {
			cp.Spec.Services.Keystone.IdentityBackends = append(cp.Spec.Services.Keystone.IdentityBackends, fixture.Directory(name))
		}
	}
}

func (w *world) identityBackend(t *testing.T, name string) *keystonev1alpha1.KeystoneIdentityBackend {
	t.Helper()
	b := &keystonev1alpha1.KeystoneIdentityBackend{ObjectMeta: w.meta(name)}
	expect.Exists(t, w, b)
	return b
}

// wanting is a check that does not say what is missing.
func wanting(check func() bool) func() error {
	return func() error {
		if !check() {
			return errors.New("it is not as the control plane says")
		}
		return nil
	}
}

func TestAnIdentityBackendThatIsNotReadyIsNamedAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, directories("staff", "students"))
	// They do not wait for the Keystone.
	staff := w.identityBackend(t, "staff")
	if staff.Spec.KeystoneRef.Name != "controlplane-keystone" || !metav1.IsControlledBy(staff, w.cp) {
		t.Errorf("the backend belongs to Keystone %q and has the owners %v", staff.Spec.KeystoneRef.Name, staff.OwnerReferences)
	}
	w.report(t, "2025.2", "", true)
	w.judge(t, w.identityBackend(t, "students"), metav1.ConditionTrue, "AllReady", "")
	w.judge(t, staff, metav1.ConditionFalse, "NotAllReady", "the directory refuses the account")
	w.expect(t, "IdentityBackendsReady", metav1.ConditionFalse, "WaitingForIdentityBackends",
		"KeystoneIdentityBackend staff is not ready: the directory refuses the account")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	w.judge(t, staff, metav1.ConditionTrue, "AllReady", "")
	w.expect(t, "IdentityBackendsReady", metav1.ConditionTrue, "IdentityBackendsReady")
}

func TestAnIdentityBackendFollowsItsControlPlane(t *testing.T) {
	t.Parallel()
	w := converged(t, directories("staff"))
	staff := w.identityBackend(t, "staff")
	objects.Change(t, w, staff, func(b *keystonev1alpha1.KeystoneIdentityBackend) {
		b.Spec.LDAP.URLs = []string{"ldaps://elsewhere.example.com"}
	})
	expect.Object(t, w, staff, wanting(func() bool { return staff.Spec.LDAP.URLs[0] == "ldaps://ldap.example.com" }))
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Services.Keystone.IdentityBackends[0].Domain.DeletionPolicy = commonv1.DeletionPolicyDelete
		cp.Spec.Services.Keystone.ProxyImage = &commonv1.ImageSpec{Repository: "registry.example.com/proxy", Tag: "2.4"}
	})
	expect.Object(t, w, staff, wanting(func() bool { return staff.Spec.Domain.DeletionPolicy == commonv1.DeletionPolicyDelete }))
	k := w.keystone(t)
	expect.Object(t, w, k, wanting(func() bool {
		return k.Spec.ProxyImage != nil && k.Spec.ProxyImage.Repository == "registry.example.com/proxy"
	}))
}

func TestARemovedIdentityBackendIsNamedUntilItIsGone(t *testing.T) {
	t.Parallel()
	w := converged(t, directories("staff"))
	own := &keystonev1alpha1.KeystoneIdentityBackend{ObjectMeta: w.meta("own")}
	own.Spec.KeystoneRef.Name, own.Spec.IdentityBackendSpec = "controlplane-keystone", fixture.Directory("own").IdentityBackendSpec
	objects.Create(t, w, own)
	staff := w.identityBackend(t, "staff")
	objects.Change(t, w, staff, func(b *keystonev1alpha1.KeystoneIdentityBackend) {
		b.Finalizers = []string{"keystone.openstack.c5c3.io/in-use"}
	})
	objects.Change(t, w, w.cp, directories())
	w.expect(t, "IdentityBackendsReady", metav1.ConditionFalse, "WaitingForIdentityBackends", "KeystoneIdentityBackend staff is being deleted")
	expect.Exists(t, w, staff)
	w.judge(t, staff, metav1.ConditionFalse, "InUse", "3 users have roles")
	w.expect(t, "IdentityBackendsReady", metav1.ConditionFalse, "WaitingForIdentityBackends",
		"KeystoneIdentityBackend staff is being deleted: 3 users have roles")
	w.report(t, "2025.2", "", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	objects.Change(t, w, staff, func(b *keystonev1alpha1.KeystoneIdentityBackend) { b.Finalizers = nil })
	expect.Gone(t, w, staff)
	w.expect(t, "IdentityBackendsReady", metav1.ConditionTrue, "NoIdentityBackends")
	// The control plane has not made it.
	expect.Exists(t, w, own)
}

func TestIdentityBackendsStayAndGoWithTheirKeystone(t *testing.T) {
	t.Parallel()
	w := converged(t, directories("staff"))
	staff := w.identityBackend(t, "staff")
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone = nil })
	w.expect(t, "IdentityBackendsReady", metav1.ConditionTrue, "KeystoneNotManaged")
	expect.Exists(t, w, staff)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Annotations = map[string]string{c5c3v1alpha1.AnnotationAllowKeystoneDeletion: "true"}
	})
	expect.Gone(t, w, staff)
}

func TestAForeignIdentityBackendIsReportedAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	own := &keystonev1alpha1.KeystoneIdentityBackend{ObjectMeta: w.meta("staff")}
	own.Spec.KeystoneRef.Name, own.Spec.IdentityBackendSpec = "controlplane-keystone", fixture.Directory("own").IdentityBackendSpec
	objects.Create(t, w, own)
	directories("staff")(w.cp)
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "IdentityBackendsReady", metav1.ConditionFalse, "IdentityBackendError", "staff")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAControlPlaneWithIdentityBackendsCanBeDeleted(t *testing.T) {
	t.Parallel()
	w := converged(t, directories("staff"))
	staff := w.identityBackend(t, "staff")
	if err := w.Delete(t.Context(), w.cp); err != nil {
		t.Fatal(err)
	}
	expect.Gone(t, w, w.cp)
	expect.Gone(t, w, staff)
}
