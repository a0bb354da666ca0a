package conformance

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// reasons verifies that everything that keeps a resource from being ready is reported
// with a remedy, and that the operator continues as soon as it is fixed.
func (s suite[T]) reasons(t *testing.T) {
	each(t, []proof{
		{"missing inputs are named and awaited", parallel(s.withData(s.withOptions(s.missingInputs)))},
		{"a failing database is explained and awaited", parallel(s.withData(s.failingDatabase))},
		{"the schema of a database that was replaced is checked again", parallel(s.withData(s.replacedDatabase))},
		{"user input is validated before a pod uses it", parallel(s.withOptions(s.checkedInput))},
		{"a failing service is explained and awaited", parallel(s.failingService)},
		{"an API that does not answer is not ready", parallel(s.silentAPI)},
		{"a failure is announced once and shows no password", parallel(s.withData(s.announcedOnce))},
		{"an invalid spec is reported and changes nothing", parallel(s.invalidSpec)},
		{"a blocked deletion reports why", parallel(s.heldDeletion)},
	})
}

func (s suite[T]) missingInputs(t *testing.T) {
	name := s.databaseSecret()
	i := s.prepared(t, managed, name, cluster)
	i.optionsSpec().PolicyOverrides = &commonv1.PolicySpec{ConfigMapRef: &corev1.LocalObjectReference{Name: "policy"}}
	i.Create()
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonWaitingForDBCredentials,
		name, "username", "password", "spec.database.secretRef")
	objects.Create(t, s.Admin, i.secret(name, map[string]string{"username": "u", "pasword": "p"}))
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonWaitingForDBCredentials, name, "password")
	i.setSecret(name, map[string]string{"password": "p"})
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonConfigError, "policy", "spec.policyOverrides.configMapRef")
	objects.Create(t, s.Admin, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: "policy"}, Data: map[string]string{"policy.yaml": "a:b: role:admin\n"},
	})
	i.Fails(vocabulary.ConditionDatabaseReady, vocabulary.ReasonClusterNotReady, cluster, "does not exist")
	objects.Create(t, s.Admin, mariaDB(i.namespace()))
	i.Ready()
	i.Condition(vocabulary.ConditionPolicyValidReady, metav1.ConditionTrue, vocabulary.ReasonPolicyValidationPassed)

	// A ConfigMap is watched, too.
	policy := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: "policy"}}
	objects.Change(t, s.Admin, policy, func(p *corev1.ConfigMap) { p.Data = map[string]string{"policy.yaml": "not: [a policy"} })
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonConfigError, "spec.policyOverrides.configMapRef")
	objects.Change(t, s.Admin, policy, func(p *corev1.ConfigMap) { p.Data = map[string]string{"policy.yaml": "a:b: role:reader\n"} })
	i.Ready()
}

// quota is the API server's error when it rejects a pod.
const quota = "exceeded quota: team, requested: limits.cpu=500m, used: limits.cpu=2, limited: limits.cpu=2"

// unpulled returns what is reported about an image that cannot be pulled.
func (i *Instance[T]) unpulled() []string {
	image := i.Resource.ServiceSpec().Image
	return []string{image.Repository + ":" + image.Tag, "spec.image"}
}

func (s suite[T]) failingDatabase(t *testing.T) {
	i := s.prepared(t, managed)
	s.MariaDB.Set("MariaDB", i.namespace(), cluster, standin.Fail("no storage"))
	s.MariaDB.Set("Database", i.namespace(), i.name(), standin.Hang())
	s.MariaDB.Set("Grant", i.namespace(), i.name(), standin.Fail("no such user"))
	i.setJob("db-sync", standin.Refuse(quota))
	i.setJob("schema-check", standin.Refuse(quota))
	i.Create()
	const failing = vocabulary.ConditionDatabaseReady
	i.Fails(failing, vocabulary.ReasonClusterNotReady, cluster, "not ready")
	s.MariaDB.Set("MariaDB", i.namespace(), cluster, standin.Succeed())
	i.Fails(failing, vocabulary.ReasonWaitingForDatabase, "Database", i.name())
	s.MariaDB.Set("Database", i.namespace(), i.name(), standin.Succeed())
	i.Fails(failing, vocabulary.ReasonWaitingForDatabase, "Grant")
	s.MariaDB.Set("Grant", i.namespace(), i.name(), standin.Succeed())

	i.Fails(failing, vocabulary.ReasonDBSyncInProgress,
		"Job "+i.name()+"-db-sync", "no pod can be created: "+quota, "raise the ResourceQuota")
	i.setJob("db-sync", standin.NoImage("not found"))
	i.Fails(failing, vocabulary.ReasonDBSyncInProgress, i.unpulled()...)
	i.setJob("db-sync", standin.Fail("alembic.util.exc.CommandError: Can't locate revision identified by '742c857f1dfb'"))
	i.Fails(failing, vocabulary.ReasonDatabaseNewerThanImage, "742c857f1dfb", "a later release than image.tag "+i.tag())
	i.setJob("db-sync", standin.Fail("Access denied for user"))
	// A failed Job runs again when the password changes.
	i.setSecret(i.databaseSecret(), map[string]string{"password": "the wrong one"})
	i.Fails(failing, vocabulary.ReasonDBSyncFailed, "Access denied for user")
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonNotAllReady, failing)
	i.correct("db-sync", "the right one")

	i.Fails(failing, vocabulary.ReasonSchemaCheckInProgress, i.name()+"-schema-check", "no pod can be created: "+quota)
	// The API pods of a first installation start in parallel with the check.
	i.Condition(vocabulary.ConditionDeploymentReady, metav1.ConditionTrue, vocabulary.ReasonDeploymentReady)
	i.setJob("schema-check", standin.FailWith(2, "needs expand"))
	i.Fails(failing, vocabulary.ReasonSchemaDriftDetected, "needs expand")
	i.correct("schema-check", "another one")
	i.Ready()
}

// replacedDatabase proves that DatabaseReady is not about a database that is gone. Deleting
// its Database drops it, and the operator has it created again, empty.
func (s suite[T]) replacedDatabase(t *testing.T) {
	i := s.converged(t, managed)
	replace := func() {
		object := &mariadbv1alpha1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: i.name()}}
		objects.Delete(t, s.Admin, object)
	}
	i.setJob("schema-check", standin.FailWith(2, "needs expand"))
	replace()
	i.Fails(vocabulary.ConditionDatabaseReady, vocabulary.ReasonSchemaDriftDetected, "needs expand")
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonNotAllReady, vocabulary.ConditionDatabaseReady)
	i.setJob("schema-check", standin.Succeed())
	replace()
	i.Ready()
	i.settle()
}

func (s suite[T]) checkedInput(t *testing.T) {
	i := s.prepared(t, brownfield)
	const options = "options"
	spec := i.optionsSpec()
	spec.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: options, Key: options}
	spec.PolicyOverrides = &commonv1.PolicySpec{Rules: map[string]string{"a:b": "role:reader"}}
	i.setJob("config-check", standin.Hang())
	i.setJob("policy-validation", standin.Hang())
	i.Create()
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonWaitingForExtraConfig,
		"Secret options of spec.extraConfigSecretRef does not exist", options)
	objects.Create(t, s.Admin, i.secret(options, map[string]string{"other": "[DEFAULT]\npublish_errors = True\n"}))
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonWaitingForExtraConfig, "lacks a value under options")
	if runs := len(s.Jobs.Runs(i.namespace(), i.name()+"-db-sync")); runs != 0 {
		t.Errorf("the schema was installed %d times without the options", runs)
	}
	i.setSecret(options, map[string]string{options: "7777777"})
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonConfigError, "Secret options", "line 1", "[section]")
	i.setSecret(options, map[string]string{options: "[DEFAULT]\nbacklog = an hour\n"})
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonConfigCheckInProgress, i.name()+"-config-check")
	i.Fails(vocabulary.ConditionPolicyValidReady, vocabulary.ReasonPolicyValidationInProgress, i.name()+"-policy-validation")
	i.setJob("config-check", standin.Fail("not an integer"))
	i.setJob("policy-validation", standin.Fail("no such rule"))
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonConfigError, "spec.extraConfigSecretRef", "correct them", "not an integer")
	i.Fails(vocabulary.ConditionPolicyValidReady, vocabulary.ReasonPolicyValidationFailed, "correct them", "no such rule")
	i.hides("an hour", "7777777")
	i.setJob("config-check", standin.Succeed())
	i.setJob("policy-validation", standin.Succeed())
	i.setSecret(options, map[string]string{options: "[DEFAULT]\nbacklog = 60\n"})
	i.changeOptions(func(spec *commonv1.OptionsSpec) { spec.PolicyOverrides = nil })
	i.Ready()
	i.changeOptions(func(spec *commonv1.OptionsSpec) {
		spec.ExtraConfigSecretRef, spec.ExtraConfig = nil, map[string]map[string]string{"DEFAULT": {"use_stderr": "false"}}
	})
	i.Fails(vocabulary.ConditionLoggingHealthy, vocabulary.ReasonStderrDisabled, "use_stderr")
	i.Condition(vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
}

// hides fails the test if conditions, events or the log contain one of the texts.
func (i *Instance[T]) hides(texts ...string) {
	i.Helper()
	state := expect.State(i.T, i.Admin, i.Resource)
	for _, text := range texts {
		if strings.Contains(state, text) || strings.Contains(i.Operator.Log(), text) {
			i.Errorf("%q is shown by the log or by\n%s", text, state)
		}
	}
}

func (s suite[T]) failingService(t *testing.T) {
	i := s.prepared(t, brownfield)
	i.setDeployment(standin.Refuse(quota))
	i.Create()
	const failing = vocabulary.ConditionDeploymentReady
	i.Fails(failing, vocabulary.ReasonWaitingForDeployment, "no pod can be created: "+quota, "raise the ResourceQuota")
	i.setDeployment(standin.NoImage("not found"))
	i.Fails(failing, vocabulary.ReasonImagePullFailed, i.unpulled()...)
	i.setDeployment(standin.Fail("deadline"))
	i.Fails(failing, vocabulary.ReasonWaitingForDeployment, "0 available")
	i.setDeployment(standin.Succeed())
	i.Ready()
}

func (s suite[T]) silentAPI(t *testing.T) {
	i := s.prepared(t, brownfield)
	answer := i.API.Hold()
	t.Cleanup(answer)
	i.Create()
	api := s.apiCondition()
	i.Fails(api, vocabulary.ReasonProbePending)
	i.Condition(vocabulary.ConditionReconciling, metav1.ConditionTrue, vocabulary.ReasonProgressing, api)
	answer()
	i.Ready()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for _, failure := range []struct {
		reason, says string
		set          func()
	}{
		{vocabulary.ReasonAPIUnhealthy, "500", func() { i.API.Answer(http.StatusInternalServerError) }},
		{vocabulary.ReasonConnectionFailed, "", func() { i.API.Fail(refused) }},
		{vocabulary.ReasonEndpointNotReady, "", func() { i.API.Fail(&net.DNSError{Err: "no such host", IsNotFound: true}) }},
		{vocabulary.ReasonHealthCheckTimeout, "", func() { i.API.Fail(context.DeadlineExceeded) }},
		{vocabulary.ReasonHealthCheckFailed, "", func() { i.API.Fail(errors.New("malformed HTTP response")) }},
	} {
		// A change of the rollout triggers a probe. While no pod is ready, the API is
		// unhealthy whatever the probe finds, because nodes learn about it later.
		i.setDeployment(standin.Fail("restarting"))
		i.Fails(api, vocabulary.ReasonConnectionFailed, "No API pod is ready")
		failure.set()
		i.setDeployment(standin.Succeed())
		i.Fails(api, failure.reason, failure.says)
	}
	i.API.Answer(http.StatusOK)
	i.setDeployment(standin.Fail("restarting"))
	i.Fails(vocabulary.ConditionDeploymentReady, vocabulary.ReasonWaitingForDeployment)
	i.setDeployment(standin.Succeed())
	i.Ready()
}

// apiCondition returns the condition about the API of the service.
func (s suite[T]) apiCondition() string {
	for _, condition := range s.Vocabulary.Conditions {
		if slices.Contains(condition.True, vocabulary.ReasonAPIHealthy) {
			return condition.Type
		}
	}
	return ""
}

func (s suite[T]) announcedOnce(t *testing.T) {
	i := s.prepared(t, brownfield)
	password := i.password()
	i.setJob("db-sync", standin.Fail("cannot connect to mysql+pymysql://user:"+password+"@db.example.com/database"))
	i.Create()
	i.Fails(vocabulary.ConditionDatabaseReady, vocabulary.ReasonDBSyncFailed)
	i.settle()
	i.pass()
	const event = "Warning " + vocabulary.EventDBSyncFailed
	i.event(event, 1)
	for announced, times := range i.Operator.Announced(i.Resource) {
		if strings.HasPrefix(announced, "Warning ") && (announced != event || times != 1) {
			t.Errorf("the event %s occurred %d times, expected %s alone", announced, times, event)
		}
	}
	i.Operator.Stop()
	i.hides(password)
}

// password returns the password of the database.
func (i *Instance[T]) password() string {
	i.Helper()
	credentials := i.secret(i.databaseSecret(), nil)
	expect.Exists(i.T, i.Admin, credentials)
	return string(credentials.Data["password"])
}

// invalidSpec makes the spec invalid without a webhook, which may be disabled or down.
func (s suite[T]) invalidSpec(t *testing.T) {
	i := s.prepared(t, brownfield)
	makeInvalid(i.Resource.ServiceSpec())
	i.Create()
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonInvalidSpec, "spec.logging.perLoggerLevels")
	i.Condition(vocabulary.ConditionStalled, metav1.ConditionTrue, vocabulary.ReasonInvalidSpec, "spec.logging.perLoggerLevels")
	if found := i.children(); len(found) > 0 {
		t.Errorf("an invalid resource has the children %v", found)
	}
	mend := func(spec *commonv1.ServiceSpec) { spec.Logging = nil }
	i.change(mend)
	i.Ready()
	i.settle()
	before := i.versions()
	i.change(makeInvalid)
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonInvalidSpec)
	i.unchanged(before)
	i.change(mend)
	i.Ready()
}
