//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

func (w *world) rotation(spec c5c3v1alpha1.CredentialRotationSpec) *c5c3v1alpha1.CredentialRotation {
	spec.Target = c5c3v1alpha1.RotationTargetAdminApplicationCredential
	return &c5c3v1alpha1.CredentialRotation{ObjectMeta: w.meta("rotation"), Spec: spec}
}

func (w *world) expectRotation(
	t *testing.T, rotation *c5c3v1alpha1.CredentialRotation, status metav1.ConditionStatus, reason string, says ...string,
) {
	t.Helper()
	expect.Condition(t, w, rotation, "Ready", status, reason, says...)
}

func TestAReMintReplacesTheCredentialOnce(t *testing.T) {
	t.Parallel()
	w := converged(t, manual)
	first := w.cp.Status.AdminApplicationCredential.ID
	rotation := w.rotation(c5c3v1alpha1.CredentialRotationSpec{ReMint: true})
	objects.Create(t, w, rotation)
	second := w.replaced(t, first)
	w.expectCredentials(t, 1)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	expect.Condition(t, w, rotation, "Ready", metav1.ConditionTrue, "RotationTriggered")
	if rotation.Status.LastTriggeredGeneration != rotation.Generation || rotation.Status.LastRotation == nil {
		t.Errorf("the status is %+v", rotation.Status)
	}
	w.usersHave(t, second)
	retained := w.retained(t)
	objects.Change(t, w, rotation, func(r *c5c3v1alpha1.CredentialRotation) { r.Spec.GracePeriodDays = new(int32(1)) })
	w.replaced(t, second)
	// During the grace period of one day both work, and then only one is left.
	w.superseded(t, retained)
	w.expectCredentials(t, 2)
	w.pass(t, day)
	w.expectCredentials(t, 1)
}

func TestAScheduleReplacesTheCredentialAgainAndAgain(t *testing.T) {
	t.Parallel()
	w := converged(t, func(cp *c5c3v1alpha1.ControlPlane) { inMode(cp, c5c3v1alpha1.RotationScheduled) })
	id := w.cp.Status.AdminApplicationCredential.ID
	rotation := w.rotation(c5c3v1alpha1.CredentialRotationSpec{IntervalDays: new(int32(3)), PreRotationDays: new(int32(1))})
	objects.Create(t, w, rotation)
	expect.Object(t, w, rotation, func() error {
		if rotation.Status.NextRotation == nil {
			return errors.New("the next rotation is not announced")
		}
		return nil
	})
	w.expectRotation(t, rotation, metav1.ConditionTrue, "RotationScheduled", "The next application credential will be created at ")
	for range 2 {
		retained := w.retained(t)
		w.pass(t, 2*day)
		id = w.replaced(t, id)
		// The old one stays valid for as long as the new one is created early.
		w.superseded(t, retained)
		w.expectCredentials(t, 2)
		w.pass(t, day)
		w.expectCredentials(t, 1)
	}
}

func TestAScheduleNeedsScheduledModeAndTheModeNeedsASchedule(t *testing.T) {
	t.Parallel()
	w := converged(t, manual)
	rotation := w.rotation(c5c3v1alpha1.CredentialRotationSpec{IntervalDays: new(int32(3))})
	objects.Create(t, w, rotation)
	w.expectRotation(t, rotation, metav1.ConditionFalse, "RotationModeNotScheduled", "rotation.mode of the ControlPlane to Scheduled")
	expect.Condition(t, w, rotation, "Stalled", metav1.ConditionTrue, "RotationModeNotScheduled", "remove intervalDays")
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { inMode(cp, c5c3v1alpha1.RotationScheduled) })
	w.expectRotation(t, rotation, metav1.ConditionTrue, "RotationScheduled")
	objects.Delete(t, w, rotation)
	w.expect(t, "KORCReady", metav1.ConditionTrue, "ApplicationCredentialMinted", "create a CredentialRotation with intervalDays")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	objects.Create(t, w, w.rotation(c5c3v1alpha1.CredentialRotationSpec{IntervalDays: new(int32(3))}))
	expect.Object(t, w, w.cp, func() error {
		korc := meta.FindStatusCondition(w.cp.Status.Conditions, "KORCReady")
		if korc == nil || strings.Contains(korc.Message, "CredentialRotation") {
			return fmt.Errorf("KORCReady is %+v", korc)
		}
		return nil
	})
}

func TestARotationWaitsForWhatItNeeds(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	rotation := w.rotation(c5c3v1alpha1.CredentialRotationSpec{Bootstrap: true})
	objects.Create(t, w, rotation)
	expect.Condition(t, w, rotation, "Ready", metav1.ConditionFalse, "NoControlPlane")
	w.seed()
	objects.Create(t, w, w.cp)
	expect.Condition(t, w, rotation, "Ready", metav1.ConditionFalse, "WaitingForBootstrap")
	expect.Condition(t, w, rotation, "Reconciling", metav1.ConditionTrue, "Progressing", "is being created")
	w.report(t, "2025.2", "", true)
	expect.Condition(t, w, rotation, "Ready", metav1.ConditionTrue, "BootstrapComplete")
}

func TestARotationWithoutARequestKeepsTheCredential(t *testing.T) {
	t.Parallel()
	w := converged(t, manual)
	rotation := w.rotation(c5c3v1alpha1.CredentialRotationSpec{})
	objects.Create(t, w, rotation)
	expect.Condition(t, w, rotation, "Ready", metav1.ConditionTrue, "NoRotationNeeded")
	expectQuiet(t, w, "credentialrotation", rotation, rotation)
	expect.Eventually(t, "the credential of before", func(ctx context.Context) error {
		_, err := w.works(ctx)
		return err
	})
}

func TestARotationNeedsExactlyOneControlPlane(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	second := w.cp.DeepCopy()
	second.Name = "another"
	rotation := w.rotation(c5c3v1alpha1.CredentialRotationSpec{ReMint: true})
	objects.Create(t, w, w.cp, second, rotation)
	w.expectRotation(t, rotation, metav1.ConditionFalse, "AmbiguousControlPlane", "delete all but one")
	expect.Condition(t, w, rotation, "Stalled", metav1.ConditionTrue, "AmbiguousControlPlane")
	objects.Delete(t, w, second)
	w.expectRotation(t, rotation, metav1.ConditionFalse, "WaitingForApplicationCredential", "no application credential to replace yet")
	w.seed()
	w.report(t, "2025.2", "", true)
	w.expectRotation(t, rotation, metav1.ConditionTrue, "RotationTriggered")
	w.expectCredentials(t, 1)
}

func TestARotationWaitsForAPasswordThatIsMissing(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.cp.Spec.Infrastructure.Database.Host = "db.example.com"
	manual(w.cp)
	password := &corev1.Secret{ObjectMeta: w.meta("keystone-admin"), Data: map[string][]byte{"password": []byte("theirs")}}
	objects.Create(t, w, password, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	objects.Change(t, w, password, func(s *corev1.Secret) { s.Data = nil })
	w.expect(t, "KORCReady", metav1.ConditionFalse, "WaitingForAdminPassword", "the key password")
	rotation := w.rotation(c5c3v1alpha1.CredentialRotationSpec{})
	objects.Create(t, w, rotation)
	w.expectRotation(t, rotation, metav1.ConditionFalse, "WaitingForAdminPassword", "without it no application credential can be created")
	objects.Change(t, w, password, func(s *corev1.Secret) { s.Data = map[string][]byte{"password": []byte("theirs")} })
	w.expectRotation(t, rotation, metav1.ConditionTrue, "NoRotationNeeded")
}

func TestAStoredRotationThatViolatesANewRuleIsReportedInItsStatus(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	b.relax(t, "credentialrotations.c5c3.io", func(spec *apiextensionsv1.JSONSchemaProps) {
		spec.XValidations = nil
		target := spec.Properties["target"]
		target.Enum = nil
		spec.Properties["target"] = target
	})
	rotation := b.rotation(c5c3v1alpha1.CredentialRotationSpec{IntervalDays: new(int32(7)), PreRotationDays: new(int32(7))})
	rotation.Spec.Target = "everything"
	expect.Eventually(t, "the new definition", func(ctx context.Context) error { return b.Create(ctx, rotation) })
	b.expectRotation(t, rotation, metav1.ConditionFalse, "UnsupportedTarget",
		`spec.target is "everything": set it to adminApplicationCredential`)
	expect.Condition(t, b, rotation, "Stalled", metav1.ConditionTrue, "UnsupportedTarget")
	objects.Change(t, b, rotation, func(r *c5c3v1alpha1.CredentialRotation) {
		r.Spec.Target = c5c3v1alpha1.RotationTargetAdminApplicationCredential
	})
	b.expectRotation(t, rotation, metav1.ConditionFalse, "InvalidSpec", "spec.preRotationDays", "must be less than intervalDays")
	expect.Condition(t, b, rotation, "Stalled", metav1.ConditionTrue, "InvalidSpec", "spec.preRotationDays")
	objects.Change(t, b, rotation, func(r *c5c3v1alpha1.CredentialRotation) { r.Spec.PreRotationDays = new(int32(1)) })
	b.expectRotation(t, rotation, metav1.ConditionFalse, "NoControlPlane", "no ControlPlane in namespace")
}
