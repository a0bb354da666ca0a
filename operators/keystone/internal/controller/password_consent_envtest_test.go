//go:build integration

package controller_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// allowWrite are labels that allow the operator to write a foreign Secret.
var allowWrite = map[string]string{"forge.c5c3.io/allow-write": "true"}

// writableSecrets returns the Secrets for a Keystone of the fixtures, with an
// administrator's Secret that the operator may write.
func writableSecrets(namespace string) []client.Object {
	inputs := testutil.Secrets(namespace)
	inputs[1].SetLabels(allowWrite)
	return inputs
}

func TestAForeignAdminSecretIsWrittenOnlyIfItsLabelAllowsIt(t *testing.T) {
	t.Parallel()
	c, k, operator := startRotating(t, testutil.Secrets("")...)
	expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionFalse, "AdminPasswordWriteNotAllowed",
		"Secret keystone-admin", "forge.c5c3.io/allow-write=true")
	expectEvent(t, c, k, "Warning AdminPasswordWriteNotAllowed")
	stagePassword(t, c, k.Namespace, firstPassword, time.Now())
	expectPassword(t, c, k.Namespace, "keystone-admin-password-next", firstPassword)
	settle(t, c, k, operator)
	expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionFalse, "AdminPasswordWriteNotAllowed")
	if err := holds(t.Context(), c, k.Namespace, testutil.AdminSecret, testutil.AdminPassword); err != nil {
		t.Error(err)
	}
	objects.Change(t, c, secret(k.Namespace, testutil.AdminSecret, nil), func(s *corev1.Secret) { s.Labels = allowWrite })
	expectRotated(t, c, k, operator, firstPassword)
}

func TestAForeignNextPasswordSecretIsNotOverwritten(t *testing.T) {
	t.Parallel()
	c, k, _ := startRotating(t, writableSecrets("")...)
	ready(t, c, k)
	taken := secret(k.Namespace, "keystone-admin-password-next", map[string]string{"password": "of somebody else"})
	objects.Create(t, c, taken)
	stagePassword(t, c, k.Namespace, firstPassword, time.Now())
	expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionFalse, "ReconcileError", taken.Name, "rename or delete it")
	expect.Exists(t, c, taken)
	if len(taken.OwnerReferences) > 0 || string(taken.Data["password"]) != "of somebody else" {
		t.Errorf("the Secret of somebody else was changed: %+v", taken.ObjectMeta)
	}
	objects.Delete(t, c, taken)
	expectPassword(t, c, k.Namespace, testutil.AdminSecret, firstPassword)
}
