//go:build integration

package controller_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// propagation is the operator's default.
var propagation = startup.Config{}.Propagation()

func TestARotationThatWouldEndTokensIsHeldAndAppliedWhenItIsSafe(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	first := rotateOnce(t, c, k.Namespace, "fernet", 3, someTime)
	expectKeys(t, c, k.Namespace, "fernet", first)
	expectOneEvent(t, c, k, operator, "FernetKeysRotated")

	rotateOnce(t, c, k.Namespace, "fernet", 3, "2026-05-04T04:00:00Z")
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionTrue, "FernetKeysAvailable", "held until", "still valid")
	// A later run of the CronJob stages again, which does not change the hold.
	second := rotateOnce(t, c, k.Namespace, "fernet", 3, "2026-05-04T05:00:00Z")
	expectOneEvent(t, c, k, operator, "RotationHeld")
	ready(t, c, k)
	expectKeys(t, c, k.Namespace, "fernet", first)

	// By default a token lives for 49 h, including the windows.
	backdate(t, c, k.Namespace, "fernet", 48*time.Hour)
	settle(t, c, k, operator)
	expectKeys(t, c, k.Namespace, "fernet", first)
	backdate(t, c, k.Namespace, "fernet", 2*time.Hour)
	expectKeys(t, c, k.Namespace, "fernet", second)
	expectEmptyStaging(t, c, k.Namespace, "fernet")
	settle(t, c, k, operator)
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionTrue, "FernetKeysAvailable")
}

func TestAnAcknowledgementAppliesOneHeldRotation(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	expectKeys(t, c, k.Namespace, "fernet", rotateOnce(t, c, k.Namespace, "fernet", 3, someTime))
	expectEmptyStaging(t, c, k.Namespace, "fernet")
	held := keysIn(t, c, k.Namespace, "fernet")
	primary, _ := fernet.PrimaryName(held.Data)
	acknowledgement := fernet.ID(held.Data[primary])

	second := rotateOnce(t, c, k.Namespace, "fernet", 3, "2026-05-04T04:00:00Z")
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionTrue, "FernetKeysAvailable",
		"keystone.openstack.c5c3.io/apply-held-rotation="+acknowledgement)
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
		metav1.SetMetaDataAnnotation(&k.ObjectMeta, keystonev1alpha1.AnnotationApplyHeldRotation, acknowledgement)
	})
	expectKeys(t, c, k.Namespace, "fernet", second)
	expectEmptyStaging(t, c, k.Namespace, "fernet")

	rotateOnce(t, c, k.Namespace, "fernet", 3, "2026-05-04T05:00:00Z")
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionTrue, "FernetKeysAvailable", "held until")
	settle(t, c, k, operator)
	expectKeys(t, c, k.Namespace, "fernet", second)
}

func TestCredentialsAreMigratedBetweenTwoRotations(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	first := rotateOnce(t, c, k.Namespace, "credential", 3, someTime)
	expectKeys(t, c, k.Namespace, "credential", first)
	expectEmptyStaging(t, c, k.Namespace, "credential")
	second := rotateOnce(t, c, k.Namespace, "credential", 3, "2026-05-04T04:00:00Z")
	expect.Condition(t, c, k, "CredentialKeysReady", metav1.ConditionTrue, "CredentialKeysAvailable", "held until", "pods")
	settle(t, c, k, operator)
	if runs := jobs.Runs(k.Namespace, k.Name+"-credential-migrate"); len(runs) > 0 {
		t.Error("credentials were migrated before the pods had the keys")
	}
	expectKeys(t, c, k.Namespace, "credential", first)

	backdate(t, c, k.Namespace, "credential", propagation)
	expectKeys(t, c, k.Namespace, "credential", second)
	if runs := jobs.Runs(k.Namespace, k.Name+"-credential-migrate"); len(runs) != 1 {
		t.Errorf("%d migrations before the second rotation, expected one", len(runs))
	}
	settle(t, c, k, operator)
	ready(t, c, k)
}

func TestAMigrationOfCredentialsThatFailsIsExplainedAndRepeated(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	jobs.Set(k.Namespace, k.Name+"-credential-migrate", standin.Fail("InvalidToken"))
	expectKeys(t, c, k.Namespace, "credential", rotateOnce(t, c, k.Namespace, "credential", 3, someTime))
	backdate(t, c, k.Namespace, "credential", propagation)
	expect.Condition(t, c, k, "CredentialKeysReady", metav1.ConditionFalse, "CredentialMigrateFailed",
		"InvalidToken", "credentials whose keys are lost have to be deleted first")
	settle(t, c, k, operator)
	jobs.Set(k.Namespace, k.Name+"-credential-migrate", standin.Succeed())
	// It would also be retried after five minutes.
	failed := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name + "-credential-migrate"}}
	objects.Delete(t, c, failed, client.PropagationPolicy(metav1.DeletePropagationBackground))
	ready(t, c, k)
}

func TestAMigrationOfCredentialsThatCannotStartIsExplained(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	jobs.Set(k.Namespace, k.Name+"-credential-migrate", standin.Refuse(quota))
	expectKeys(t, c, k.Namespace, "credential", rotateOnce(t, c, k.Namespace, "credential", 3, someTime))
	backdate(t, c, k.Namespace, "credential", propagation)
	expect.Condition(t, c, k, "CredentialKeysReady", metav1.ConditionFalse, "CredentialMigrateFailed",
		"Job keystone-credential-migrate", "no pod can be created: "+quota)
	jobs.Set(k.Namespace, k.Name+"-credential-migrate", standin.Succeed())
	ready(t, c, k)
}

func TestALostKeyHistoryHoldsTheNextRotation(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	objects.Change(t, c, keysIn(t, c, k.Namespace, "fernet"), func(s *corev1.Secret) { delete(s.Annotations, keyHistory) })
	found := secret(k.Namespace, k.Name+"-fernet-keys", nil)
	expect.Object(t, c, found, func() error {
		if !fernet.ParseHistory(found.Annotations[keyHistory]).Rotated() {
			return fmt.Errorf("the history is %q", found.Annotations[keyHistory])
		}
		return nil
	})
	rotateOnce(t, c, k.Namespace, "fernet", 3, someTime)
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionTrue, "FernetKeysAvailable", "held until")
	settle(t, c, k, operator)
}
