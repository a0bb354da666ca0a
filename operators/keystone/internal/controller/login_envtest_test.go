//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// adminLogin is the login of the fixtures' administrator.
func adminLogin(password string) testutil.Login {
	return testutil.Login{User: "admin", Domain: "default", Password: password}
}

func TestAKeystoneWithFailingLoginsIsNotReady(t *testing.T) {
	t.Parallel()
	failedPart := func(part string) http.Header { return http.Header{"X-Forge-Failed-Part": {part}} }
	c, namespace := newNamespace(t, testutil.Secrets)
	operator := testutil.Start(t, asOperator, namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	for i, tc := range []struct {
		reason string
		says   []string
		answer testutil.LoginAnswer
	}{
		{
			"DatabaseUnavailable",
			[]string{"db.example.com:3306"},
			testutil.LoginAnswer{Code: http.StatusInternalServerError, Header: failedPart("database")},
		},
		{
			"CacheUnavailable",
			[]string{"memcached.example.com:11211"},
			testutil.LoginAnswer{Code: http.StatusInternalServerError, Header: failedPart("cache")},
		},
		{
			"TokenKeysUnusable",
			[]string{"keystone-fernet-keys"},
			testutil.LoginAnswer{Code: http.StatusInternalServerError, Header: failedPart("keys")},
		},
		{"LoginFailed", []string{"500", "log of the API pods"}, testutil.LoginAnswer{Code: http.StatusInternalServerError}},
		{"LoginFailed", []string{"404", "/v3/auth/tokens"}, testutil.LoginAnswer{Code: http.StatusNotFound}},
		{"LoginFailed", []string{"no token"}, testutil.LoginAnswer{Code: http.StatusCreated}},
		{"LoginTimeout", []string{"10s", "database"}, testutil.LoginAnswer{Err: context.DeadlineExceeded}},
	} {
		operator.API.AnswerLogins(tc.answer)
		if i == 0 {
			objects.Create(t, c, k)
		} else {
			objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Spec.Replicas++ })
		}
		expect.Condition(t, c, k, "KeystoneAPIReady", metav1.ConditionFalse, tc.reason, tc.says...)
		expect.Condition(t, c, k, "Ready", metav1.ConditionFalse, "NotAllReady")
		// It is retried soon without any change.
		operator.API.AnswerLogins(testutil.LoginAnswer{})
		ready(t, c, k)
	}
}

func TestAnUnavailableCacheIsReportedWhileReady(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	operator := testutil.Start(t, asOperator, namespace)
	uncached := testutil.LoginAnswer{Code: http.StatusCreated, Header: http.Header{
		"X-Subject-Token": {testutil.Token}, "X-Forge-Failed-Part": {"cache"},
	}}
	operator.API.AnswerLogins(uncached)
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	ready(t, c, k)
	const complaint = "the cache at memcached.example.com:11211 does not answer"
	expect.Condition(t, c, k, "KeystoneAPIReady", metav1.ConditionTrue, "APIHealthy", complaint)
	expectEvent(t, c, k, "Warning CacheUnavailable")
	settle(t, c, k, operator)

	// A restarted operator still reports it.
	operator.Stop()
	expect.Exists(t, c, k)
	before := k.ResourceVersion
	second := testutil.Start(t, asOperator, namespace)
	second.API.AnswerLogins(uncached)
	settle(t, c, k, second)
	expect.Exists(t, c, k)
	if k.ResourceVersion != before {
		t.Error("the restarted operator has written another status")
	}

	second.API.AnswerLogins(testutil.LoginAnswer{})
	setDeployment(standin.Fail("restarting"))(&world{T: t, client: c, namespace: namespace, keystone: k})
	expect.Condition(t, c, k, "DeploymentReady", metav1.ConditionFalse, "WaitingForDeployment")
	setDeployment(standin.Succeed())(&world{T: t, client: c, namespace: namespace, keystone: k})
	ready(t, c, k)
	expect.Object(t, c, k, func() error {
		condition := meta.FindStatusCondition(k.Status.Conditions, "KeystoneAPIReady")
		if strings.Contains(condition.Message, complaint) {
			return errors.New(condition.Message)
		}
		return nil
	})
}

func TestARefusedPasswordIsTriedOnceAndACorrectedOneAtOnce(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	operator := testutil.Start(t, asOperator, namespace)
	operator.API.AnswerLogins(testutil.LoginAnswer{Password: "another"})
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	expect.Condition(t, c, k, "KeystoneAPIReady", metav1.ConditionFalse, "AdminPasswordRefused",
		testutil.AdminSecret, "admin", "keystone-bootstrap", keystonev1alpha1.AnnotationRunAgain)
	expect.Condition(t, c, k, "Stalled", metav1.ConditionTrue, "AdminPasswordRefused")
	expect.Condition(t, c, k, "Ready", metav1.ConditionFalse, "NotAllReady", "KeystoneAPIReady")
	expectEvent(t, c, k, "Warning AdminPasswordRefused")
	settle(t, c, k, operator)

	w := &world{T: t, client: c, namespace: namespace, keystone: k, operator: operator}
	// Neither other pods nor another operator cause another attempt.
	setDeployment(standin.Fail("restarting"))(w)
	expect.Condition(t, c, k, "DeploymentReady", metav1.ConditionFalse, "WaitingForDeployment")
	setDeployment(standin.Succeed())(w)
	expect.Condition(t, c, k, "KeystoneAPIReady", metav1.ConditionFalse, "AdminPasswordRefused")
	settle(t, c, k, operator)
	operator.Stop()
	// Another version of the operator may say it in other words.
	objects.ChangeStatus(t, c, k, func(k *keystonev1alpha1.Keystone) {
		meta.FindStatusCondition(k.Status.Conditions, "KeystoneAPIReady").Message = "in other words"
	})
	second := testutil.Start(t, asOperator, namespace)
	second.API.AnswerLogins(testutil.LoginAnswer{Password: "another"})
	expect.Eventually(t, "a health probe by the restarted operator", func(context.Context) error {
		if len(second.API.Asked()) == 0 {
			return errors.New("there was none")
		}
		return nil
	})
	settle(t, c, k, second)
	want := []testutil.Login{adminLogin(testutil.AdminPassword)}
	if diff := cmp.Diff(want, append(operator.API.Logins(), second.API.Logins()...)); diff != "" {
		t.Errorf("logins (-want +got):\n%s", diff)
	}

	setSecret(w, testutil.AdminSecret, map[string]string{"password": "another"})
	ready(t, c, k)
	for _, login := range second.API.Logins() {
		if login != adminLogin("another") {
			t.Errorf("a login with %q after it was refused", login.Password)
		}
	}
}

func TestARefusedPasswordIsTriedAgainAfterBootstrap(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	operator := testutil.Start(t, asOperator, namespace)
	operator.API.AnswerLogins(testutil.LoginAnswer{Password: "another"})
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	expect.Condition(t, c, k, "KeystoneAPIReady", metav1.ConditionFalse, "AdminPasswordRefused")
	operator.API.AnswerLogins(testutil.LoginAnswer{})
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
		metav1.SetMetaDataAnnotation(&k.ObjectMeta, keystonev1alpha1.AnnotationRunAgain, "now")
	})
	ready(t, c, k)
}

func TestAChangedPasswordIsVerifiedBeforeTheAPIIsReady(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	settle(t, c, k, operator)
	w := &world{T: t, client: c, namespace: k.Namespace, keystone: k, operator: operator}
	answer := operator.API.Hold()
	t.Cleanup(answer)
	setSecret(w, testutil.AdminSecret, map[string]string{"password": "another"})
	expect.Condition(t, c, k, "KeystoneAPIReady", metav1.ConditionFalse, "LoginPending")
	expect.Condition(t, c, k, "BootstrapReady", metav1.ConditionTrue, "BootstrapComplete")
	answer()
	ready(t, c, k)
	logins := operator.API.Logins()
	if last := logins[len(logins)-1]; last != adminLogin("another") {
		t.Errorf("the last login was %+v, want one with the new password", last)
	}
}

func TestALoginIsVerifiedAgainWhenPodsOrKeysChange(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	made, err := fernet.Generate(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(){
		func() { objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Spec.Replicas = 2 }) },
		func() {
			live := secret(k.Namespace, "keystone-fernet-keys", nil)
			objects.Change(t, c, live, func(s *corev1.Secret) { s.Data["0"] = made["0"] })
		},
	} {
		settle(t, c, k, operator)
		before := len(operator.API.Logins())
		change()
		expect.Eventually(t, "another login", func(context.Context) error {
			if got := len(operator.API.Logins()); got <= before {
				return fmt.Errorf("there were %d before and %d now", before, got)
			}
			return nil
		})
		ready(t, c, k)
	}
}

func TestAKeystoneWithoutPasswordAuthIsReadyWithoutALogin(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	operator := testutil.Start(t, asOperator, namespace)
	operator.API.AnswerLogins(testutil.LoginAnswer{Password: "none"})
	k := testutil.Brownfield(namespace, testutil.Name)
	k.Spec.ExtraConfig = map[string]map[string]string{"auth": {"methods": "external,token"}}
	objects.Create(t, c, k)
	ready(t, c, k)
	if logins := operator.API.Logins(); len(logins) > 0 {
		t.Errorf("%d logins", len(logins))
	}
}

func TestPasswordAndTokenOfALoginAreNeverShown(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	settle(t, c, k, operator)
	if len(operator.API.Logins()) == 0 {
		t.Fatal("there was no login")
	}
	operator.Stop()
	for _, value := range []string{testutil.AdminPassword, testutil.Token} {
		if strings.Contains(operator.Log(), value) {
			t.Errorf("the operator's log shows %s", value)
		}
		if state := expect.State(t, c, k); strings.Contains(state, value) {
			t.Errorf("conditions or events show %s:\n%s", value, state)
		}
	}
}
