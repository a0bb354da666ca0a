//go:build integration

package controller_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

func TestAPasswordThatKeystoneRefusesIsReplacedByTheNextRotation(t *testing.T) {
	t.Parallel()
	c, k, operator := startRotating(t, writableSecrets("")...)
	ready(t, c, k)
	jobs.Set(k.Namespace, "keystone-bootstrap", standin.Fail(
		"keystone.exception.PasswordRequirementsValidationError: The password does not match the requirements: two of each."))
	stagePassword(t, c, k.Namespace, firstPassword, madeIn(0))
	expect.Condition(t, c, k, "PasswordRotationReady", metav1.ConditionFalse, "AdminPasswordRotationRejected",
		"[security_compliance]", testutil.AdminSecret, "CronJob keystone-admin-password-rotate")
	expect.Condition(t, c, k, "BootstrapReady", metav1.ConditionFalse, "BootstrapFailed", "PasswordRequirementsValidationError")
	jobs.Set(k.Namespace, "keystone-bootstrap", standin.Succeed())
	stagePassword(t, c, k.Namespace, secondPassword, madeIn(1))
	expectRotated(t, c, k, operator, secondPassword)
}
