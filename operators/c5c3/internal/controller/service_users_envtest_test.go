//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// requestPassword requests a new password of the Placement's user.
func (w *world) requestPassword(t *testing.T) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: w.meta("controlplane-placement-service-user")}
	objects.Change(t, w, secret, func(s *corev1.Secret) {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, c5c3v1alpha1.AnnotationRotationRequest, "now")
	})
}

// serviceUsers waits until Keystone has exactly these users apart from the administrator.
func (w *world) serviceUsers(t *testing.T, names ...string) {
	t.Helper()
	slices.Sort(names)
	expect.Eventually(t, "the users in Keystone", func(context.Context) error {
		var got []string
		for name := range korc.Names(w.cp.Namespace, "User") {
			if name != "admin" {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(names, got); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
}

func TestAPassOverAControlPlaneWithEveryServiceMakesNoRequestOfItsOwn(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, furtherServices...)
	expectQuiet(t, w, "controlplane", w.cp, &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")})
}

func TestAServiceWaitsForTheCredentialsOfItsDatabase(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	placement(w.cp)
	objects.Create(t, w, w.cp)
	w.expect(t, "DBCredentialsReady", metav1.ConditionFalse, "WaitingForDBCredentialSecret",
		"username and password at openstack/placement/"+w.cp.Namespace+"/controlplane/db")
	w.seedService(services.Placement)
	w.expect(t, "DBCredentialsReady", metav1.ConditionTrue, "DBCredentialsReady", "controlplane-placement-db-credentials")
}

func TestARevokedRoleAssignmentIsRestored(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, services.Placement)
	korc.Unassign(w.cp.Namespace)
	w.pass(t, proofPeriod)
	expect.Eventually(t, "the role", func(context.Context) error {
		if korc.Assigned(w.cp.Namespace) != 1 {
			return errors.New("it is not assigned")
		}
		return nil
	})
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAPlacementPasswordRotationCausesNoOutage(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, services.Placement)
	old := w.login(t, services.Placement)
	retired := &orcv1alpha1.User{ObjectMeta: w.meta(old.Name)}
	objects.Change(t, w, retired, func(u *orcv1alpha1.User) {
		metav1.SetMetaDataAnnotation(&u.ObjectMeta, c5c3v1alpha1.AnnotationCredentialOverlap, overlap.String())
	})
	w.requestPassword(t)
	w.getsAnotherLogin(t, services.Placement, old)
	w.serviceUsers(t, string(old.Data["username"]), string(w.login(t, services.Placement).Data["username"]))
	w.reportService(t, services.Placement, "2025.2", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	expect.Object(t, w, retired, func() error {
		if retired.Annotations[c5c3v1alpha1.AnnotationSupersededAt] == "" {
			return errors.New("its time has not begun")
		}
		return nil
	})
	w.pass(t, overlap)
	expect.Gone(t, w, retired)
	expect.Gone(t, w, old)
	w.serviceUsers(t, string(w.login(t, services.Placement).Data["username"]))
	expectQuiet(t, w, "controlplane", w.cp, &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")})
}

func TestAServiceChangesToAnApplicationCredentialAndGetsAnotherBeforeItExpires(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, services.Placement)
	byPassword := w.login(t, services.Placement)
	objects.Change(t, w, w.cp, withCredentials)
	w.getsAnotherLogin(t, services.Placement, byPassword)
	old := w.login(t, services.Placement)
	if !accepts(w.cp.Namespace, old) || len(old.Data["password"]) > 0 {
		t.Error("the Placement has no application credential that Keystone accepts")
	}
	w.retire(t, byPassword)
	w.pass(t, 21*day)
	w.getsAnotherLogin(t, services.Placement, old)
	if !accepts(w.cp.Namespace, old) {
		t.Error("Keystone refuses the old credential while pods may have it")
	}
	w.retire(t, old)
	if accepts(w.cp.Namespace, old) {
		t.Error("Keystone accepts the old credential still")
	}
	if err := hasCredentials(t.Context(), w.cp.Namespace, 2); err != nil {
		t.Error(err)
	}
	expectQuiet(t, w, "controlplane", w.cp, &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")})
}

// retire waits until an earlier login of the Placement is gone with its user, some time after the
// Placement is ready with another one.
func (w *world) retire(t *testing.T, old *corev1.Secret) {
	t.Helper()
	w.reportService(t, services.Placement, "2025.2", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	expect.Gone(t, w, &orcv1alpha1.User{ObjectMeta: w.meta(old.Name)})
	expect.Gone(t, w, old)
}

func TestADeletedServiceUserSecretIsReplaced(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, services.Placement)
	old := w.login(t, services.Placement)
	objects.Delete(t, w, &corev1.Secret{ObjectMeta: w.meta("controlplane-placement-service-user")})
	w.getsAnotherLogin(t, services.Placement, old)
	w.reportService(t, services.Placement, "2025.2", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestDeletionRemovesTheServiceUserOfPlacement(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, services.Placement)
	w.delete(t)
	expect.Gone(t, w, w.cp)
	w.serviceUsers(t)
	if n := korc.Assigned(w.cp.Namespace); n != 0 {
		t.Errorf("%d roles are assigned", n)
	}
	expect.Gone(t, w, w.named(services.Placement))
	w.expectEnd(t, "ORCTeardownComplete")
}
