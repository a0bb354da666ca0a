//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

const mainCredential = "controlplane-admin-app-credential"

// retainedName is the name of the object that retains the credential in use while it is
// replaced.
func (w *world) retainedName(t *testing.T) string {
	t.Helper()
	return mainCredential + "-" + shortHash(string(*w.credential(t).Spec.Resource.Name))
}

// retained is that object, for reading.
func (w *world) retained(t *testing.T) *orcv1alpha1.ApplicationCredential {
	t.Helper()
	return &orcv1alpha1.ApplicationCredential{ObjectMeta: w.meta(w.retainedName(t))}
}

// renameCloud changes a reference in all K-ORC objects.
func (w *world) renameCloud(t *testing.T) {
	t.Helper()
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		c5c3v1alpha1.SetDefaults(cp)
		cp.Spec.KORC.AdminCredential.CloudCredentialsRef.CloudName = "renamed"
	})
}

// longGrace is a number of days that exceeds the duration of any test.
const longGrace = 100

// request requests a new credential; the old one stays valid for some days.
func (w *world) request(t *testing.T, name string, grace int32) *c5c3v1alpha1.CredentialRotation {
	t.Helper()
	rotation := w.rotation(c5c3v1alpha1.CredentialRotationSpec{ReMint: true, GracePeriodDays: &grace})
	rotation.Name = name
	objects.Create(t, w, rotation)
	return rotation
}

// endGrace ends the overlap of a replaced credential.
func (w *world) endGrace(t *testing.T, retained *orcv1alpha1.ApplicationCredential) {
	t.Helper()
	objects.Change(t, w, retained, func(c *orcv1alpha1.ApplicationCredential) {
		delete(c.Annotations, c5c3v1alpha1.AnnotationCredentialOverlap)
	})
}

func TestAStalledReplacementIsReportedAndKeepsTheOldCredential(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	retained := w.retainedName(t)
	korc.Set("ApplicationCredential", w.cp.Namespace, retained, standin.Hang())
	changes := w.follow(t)
	w.askForAnother(t)
	changes.Condition(t, "KORCReady", metav1.ConditionFalse, "ReMinting", "is being created because it was requested")
	w.pass(t, stall)
	w.expect(t, "KORCReady", metav1.ConditionFalse, "ReMintStalled", "ApplicationCredential "+retained,
		"repair K-ORC or its connection to Keystone")
	w.usersHave(t, old)
	korc.Set("ApplicationCredential", w.cp.Namespace, retained, standin.Succeed())
	w.replacedAfter(t, old)
}

func TestAReplacementResumesOnceKORCCanLogInAgain(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	korc.Blind(w.cp.Namespace, true)
	changes := w.follow(t)
	w.askForAnother(t)
	w.stalls(t, changes)
	// Between two attempts the message names another object, which K-ORC has not observed
	// yet.
	changes.Condition(t, "KORCReady", metav1.ConditionFalse, "ReMintStalled", "does not contain",
		"check that Keystone accepts the administrator's password in Secret controlplane-keystone-admin-credentials")
	w.usersHave(t, old)
	w.staysStalled(t)
	korc.Blind(w.cp.Namespace, false)
	w.replacedAfter(t, old)
}

// staysStalled waits for another attempt to adopt the replaced credential, and for a pass
// after it, which must still report the stall.
func (w *world) staysStalled(t *testing.T) {
	t.Helper()
	before := w.heirs(t)
	expect.Eventually(t, "another attempt", func(context.Context) error {
		if now := w.heirs(t); len(now) == 0 || slices.Equal(now, before) {
			return fmt.Errorf("the object is still %v", now)
		}
		return nil
	})
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		c5c3v1alpha1.SetDefaults(cp)
		cp.Spec.KORC.AdminCredential.BootstrapResources = []c5c3v1alpha1.BootstrapResourceSpec{{Kind: "Role", Name: "auditor"}}
	})
	expect.Object(t, w, w.cp, func() error {
		if w.cp.Status.ObservedGeneration != w.cp.Generation {
			return errors.New("there was no pass since")
		}
		return nil
	})
	if korc := meta.FindStatusCondition(w.cp.Status.Conditions, "KORCReady"); korc.Reason != "ReMintStalled" {
		t.Errorf("KORCReady is %s for %s: %s", korc.Status, korc.Reason, korc.Message)
	}
}

// heirs returns the UIDs of the objects that retain a replaced credential.
func (w *world) heirs(t *testing.T) (uids []types.UID) {
	t.Helper()
	var list orcv1alpha1.ApplicationCredentialList
	if err := w.List(t.Context(), &list, client.InNamespace(w.cp.Namespace), client.HasLabels{c5c3v1alpha1.LabelSuperseded}); err != nil {
		t.Fatal(err)
	}
	for _, retained := range list.Items {
		uids = append(uids, retained.UID)
	}
	return uids
}

func TestAReplacedCredentialIsRevokedAlsoWhenItsCloudWasRenamed(t *testing.T) {
	t.Parallel()
	w := converged(t, manual)
	old := w.cp.Status.AdminApplicationCredential.ID
	retained := w.retained(t)
	w.request(t, "now", longGrace)
	w.replaced(t, old)
	w.renameCloud(t)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	w.endGrace(t, retained)
	w.expectCredentials(t, 1)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestADeletionRemovesCredentialsMadeUnderAFormerCloudName(t *testing.T) {
	t.Parallel()
	w := converged(t, manual)
	old := w.cp.Status.AdminApplicationCredential.ID
	retained := w.retained(t)
	w.request(t, "now", longGrace)
	w.replaced(t, old)
	w.renameCloud(t)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	w.delete(t)
	expect.Gone(t, w, retained)
	w.expectCredentials(t, 0)
	w.expectEnd(t, "ORCTeardownComplete")
}

func TestACredentialReportedAsLostByKORCWorksUntilItIsReplaced(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	korc.Set("ApplicationCredential", w.cp.Namespace, mainCredential, standin.Fail("resource has been deleted from OpenStack"))
	// K-ORC only retries when the spec changes.
	w.renameCloud(t)
	w.expect(t, "KORCReady", metav1.ConditionFalse, "ApplicationCredentialFailed", "deleted from OpenStack", "correct what K-ORC reports")
	w.usersHave(t, old)
	korc.Set("ApplicationCredential", w.cp.Namespace, mainCredential, standin.Succeed())
	w.replacedAfter(t, old)
}

func TestAKORCFailureDuringAReplacementKeepsTheOldCredential(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	retained := w.retainedName(t)
	korc.Set("ApplicationCredential", w.cp.Namespace, retained, standin.Fail("conflict"))
	changes := w.follow(t)
	w.askForAnother(t)
	w.stalls(t, changes)
	changes.Condition(t, "KORCReady", metav1.ConditionFalse, "ReMintStalled", retained, "conflict")
	w.usersHave(t, old)
	korc.Set("ApplicationCredential", w.cp.Namespace, retained, standin.Succeed())
	w.replacedAfter(t, old)
}

// K-ORC may be processing an object while the operator deletes it.
func TestTheKORCStatusOfATerminatingObjectIsIgnored(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	retained := w.retained(t)
	korc.Blind(w.cp.Namespace, true)
	changes := w.follow(t)
	w.askForAnother(t)
	expect.Exists(t, w, retained)
	korc.Set("ApplicationCredential", w.cp.Namespace, retained.Name, standin.Hang())
	expect.Object(t, w, retained, func() error {
		if retained.DeletionTimestamp.IsZero() {
			return errors.Join(errors.New("it is not being made anew"), w.looksInVain(t, retained))
		}
		return nil
	})
	objects.ChangeStatus(t, w, retained, func(retained *orcv1alpha1.ApplicationCredential) {
		meta.SetStatusCondition(&retained.Status.Conditions, metav1.Condition{
			Type: "Available", Status: metav1.ConditionTrue, Reason: "Success", ObservedGeneration: retained.Generation,
		})
		retained.Status.ID = &old
	})
	w.stalls(t, changes)
	w.expect(t, "KORCReady", metav1.ConditionFalse, "ReMintStalled", "Recreating the object", retained.Name)
	korc.Blind(w.cp.Namespace, false)
	korc.Set("ApplicationCredential", w.cp.Namespace, retained.Name, standin.Succeed())
	w.replacedAfter(t, old)
}

// looksInVain simulates a K-ORC that does not find the object's resource.
func (w *world) looksInVain(t *testing.T, retained *orcv1alpha1.ApplicationCredential) error {
	t.Helper()
	if controllerutil.AddFinalizer(retained, "openstack.k-orc.cloud/applicationcredential") {
		if err := w.Update(t.Context(), retained); err != nil {
			return err
		}
	}
	if meta.FindStatusCondition(retained.Status.Conditions, "Progressing") != nil {
		return nil
	}
	meta.SetStatusCondition(&retained.Status.Conditions, metav1.Condition{
		Type: "Progressing", Status: metav1.ConditionTrue, Reason: "TransientError", Message: "it is not there",
		ObservedGeneration: retained.Generation,
	})
	return w.Status().Update(t.Context(), retained)
}

func TestAPartiallyDetachedCredentialIsStillRevoked(t *testing.T) {
	t.Parallel()
	w := converged(t, manual)
	old := w.cp.Status.AdminApplicationCredential.ID
	retained := w.retained(t)
	w.request(t, "now", longGrace)
	w.replaced(t, old)
	objects.Change(t, w, retained, func(c *orcv1alpha1.ApplicationCredential) {
		c.Spec.ManagedOptions = &orcv1alpha1.ManagedOptions{OnDelete: orcv1alpha1.OnDeleteDetach}
	})
	w.endGrace(t, retained)
	expect.Gone(t, w, retained)
	w.expectCredentials(t, 1)
}

func TestACredentialFalselyReportedAsRevokedIsRevoked(t *testing.T) {
	t.Parallel()
	w := converged(t, manual)
	old := w.cp.Status.AdminApplicationCredential.ID
	retained := w.retained(t)
	w.request(t, "now", longGrace)
	w.replaced(t, old)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	w.superseded(t, retained)
	korc.Blind(w.cp.Namespace, true)
	unreachable.Store(w.cp.Namespace, true)
	w.endGrace(t, retained)
	w.pass(t, stall)
	w.expect(t, "KORCReady", metav1.ConditionFalse, "ReMintStalled", "still valid", retained.Name, "the operator's connection to http://")
	if _, err := w.works(t.Context()); err != nil {
		t.Error(err)
	}
	unreachable.Delete(w.cp.Namespace)
	// It is retried with increasing delays.
	w.pass(t, stall)
	expect.Gone(t, w, retained)
	w.expectCredentials(t, 1)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestADeletionRevokesACredentialFalselyReportedAsRevoked(t *testing.T) {
	t.Parallel()
	w := converged(t)
	korc.Blind(w.cp.Namespace, true)
	w.delete(t)
	expect.Gone(t, w, w.cp)
	w.expectCredentials(t, 0)
	w.expectEnd(t, "ORCTeardownComplete")
}

func TestADeletionFallsBackToKORCIfTheOperatorCannotRevoke(t *testing.T) {
	t.Parallel()
	w := converged(t)
	unreachable.Store(w.cp.Namespace, true)
	changes := w.follow(t)
	w.delete(t)
	changes.Condition(t, "KORCReady", metav1.ConditionFalse, "FinalizingORC", "no route to host")
	w.pass(t, stall/2)
	expect.Gone(t, w, w.cp)
	w.expectCredentials(t, 0)
}

func TestRejectedCredentialsDoNotAccumulateInKeystone(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	rejecting.Store(w.cp.Namespace, true)
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	expect.Eventually(t, "several credentials that were made and refused", func(context.Context) error {
		if left := korc.Names(w.cp.Namespace, "ApplicationCredential"); len(left) > 1 {
			t.Errorf("Keystone has %v", left)
		}
		if made := korc.Made(w.cp.Namespace, "ApplicationCredential"); made < 3 {
			return fmt.Errorf("%d were made", made)
		}
		return nil
	})
	w.usersHaveNone(t)
	rejecting.Delete(w.cp.Namespace)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	w.expectCredentials(t, 1)
}
