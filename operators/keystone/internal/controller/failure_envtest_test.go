//go:build integration

package controller_test

import (
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// world is the environment of a failure.
type world struct {
	*testing.T
	client    client.Client
	namespace string
	keystone  *keystonev1alpha1.Keystone
	operator  *testutil.Operator
}

// failure is one reason why a Keystone does not become ready at first.
type failure struct {
	name string
	// without names objects of the fixtures that are missing.
	without []string
	// cause sets up the failure before the Keystone is created.
	cause func(w *world)
	// condition and reason report the failure.
	condition, reason string
	// says are parts of the condition's message.
	says []string
	// repair ends the failure.
	repair func(w *world)
}

func (f failure) run(t *testing.T) {
	t.Parallel()
	m := modes[0]
	c, namespace := newNamespace(t)
	w := &world{T: t, client: c, namespace: namespace, keystone: m.keystone(namespace, testutil.Name)}
	for _, obj := range m.inputs(namespace) {
		if !strings.Contains(strings.Join(f.without, " "), obj.GetName()) {
			objects.Create(t, c, obj)
		}
	}
	w.operator = testutil.Start(t, asOperator, namespace)
	if f.cause != nil {
		f.cause(w)
	}
	objects.Create(t, c, w.keystone)
	expect.Condition(t, c, w.keystone, f.condition, metav1.ConditionFalse, f.reason, f.says...)
	expect.Condition(t, c, w.keystone, "Ready", metav1.ConditionFalse, "NotAllReady")
	f.repair(w)
	ready(t, c, w.keystone)
}

// secret returns a Secret with one value under each key.
func secret(namespace, name string, data map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: data}
}

func setSecret(w *world, name string, data map[string]string) {
	w.Helper()
	objects.Change(w.T, w.client, secret(w.namespace, name, nil), func(s *corev1.Secret) { s.StringData = data })
}

// setJob sets the outcome of a Job of the Keystone.
func setJob(name string, o standin.Outcome) func(*world) {
	return func(w *world) { jobs.Set(w.namespace, testutil.Name+"-"+name, o) }
}

func setDeployment(o standin.Outcome) func(*world) {
	return func(w *world) { deployments.Set(w.namespace, testutil.Name, o) }
}

// fixPassword is how a user repairs a Job that could not log in.
func fixPassword(job string) func(*world) {
	return func(w *world) {
		w.Helper()
		setJob(job, standin.Succeed())(w)
		setSecret(w, testutil.DatabaseSecret, map[string]string{"password": "the-right-one"})
	}
}

func TestAMissingAdministratorsSecretIsNamedAndAwaited(t *testing.T) {
	for _, f := range []failure{
		{
			name: "no administrator Secret", without: []string{testutil.AdminSecret},
			condition: "SecretsReady", reason: "WaitingForAdminCredentials",
			says: []string{testutil.AdminSecret, "password", "spec.bootstrap.adminPasswordSecretRef"},
			repair: func(w *world) {
				objects.Create(w.T, w.client, secret(w.namespace, testutil.AdminSecret, map[string]string{"password": "p"}))
			},
		},
		{
			name: "administrator Secret with an empty password", without: []string{testutil.AdminSecret},
			cause: func(w *world) {
				objects.Create(w.T, w.client, secret(w.namespace, testutil.AdminSecret, map[string]string{"password": ""}))
			},
			condition: "SecretsReady", reason: "WaitingForAdminCredentials", says: []string{testutil.AdminSecret, "password"},
			repair: func(w *world) { setSecret(w, testutil.AdminSecret, map[string]string{"password": "p"}) },
		},
	} {
		t.Run(f.name, f.run)
	}
}

func TestTheKeyBackupWaitsForTheDatabase(t *testing.T) {
	failure{
		cause:     setJob("db-sync", standin.Hang()),
		condition: "BackupHealthy", reason: "BackupPending",
		says:   []string{"No keys in Secret keystone-fernet-keys and keystone-credential-keys yet", "conditions of the keys"},
		repair: setJob("db-sync", standin.Succeed()),
	}.run(t)
}

// quota is the API server's error when it rejects a pod.
const quota = "exceeded quota: team, requested: limits.cpu=500m, used: limits.cpu=2, limited: limits.cpu=2"

func TestAFailingBootstrapIsExplainedAndAwaited(t *testing.T) {
	for _, f := range []failure{
		{
			name: "bootstrap that runs", cause: setJob("bootstrap", standin.Hang()),
			condition: "BootstrapReady", reason: "BootstrapInProgress", says: []string{"keystone-bootstrap"},
			repair: setJob("bootstrap", standin.Succeed()),
		},
		{
			name: "bootstrap that fails", cause: setJob("bootstrap", standin.Fail("Connection refused")),
			condition: "BootstrapReady", reason: "BootstrapFailed", says: []string{"Connection refused"},
			repair: func(w *world) {
				setJob("bootstrap", standin.Succeed())(w)
				setSecret(w, testutil.AdminSecret, map[string]string{"password": "another"})
			},
		},
		{
			name: "bootstrap without a pod", cause: setJob("bootstrap", standin.Refuse(quota)),
			condition: "BootstrapReady", reason: "BootstrapInProgress",
			says:   []string{"no pod can be created: " + quota, "raise the ResourceQuota"},
			repair: setJob("bootstrap", standin.Succeed()),
		},
	} {
		t.Run(f.name, f.run)
	}
}

func TestAFirstInstallationStartsPodsDuringTheSchemaCheck(t *testing.T) {
	failure{
		cause:     setJob("schema-check", standin.Hang()),
		condition: "DatabaseReady", reason: "SchemaCheckInProgress",
		repair: func(w *world) {
			expect.Condition(w.T, w.client, w.keystone, "DeploymentReady", metav1.ConditionTrue, "DeploymentReady")
			expect.Condition(w.T, w.client, w.keystone, "BootstrapReady", metav1.ConditionTrue, "BootstrapComplete")
			expect.Condition(w.T, w.client, w.keystone, "Ready", metav1.ConditionFalse, "NotAllReady", "DatabaseReady")
			setJob("schema-check", standin.Succeed())(w)
		},
	}.run(t)
}

func TestKeysThatCannotBeStoredAreNamed(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	refusals := &transport.Refusals{}
	var secrets atomic.Int32
	allow := refusals.Refuse(func(r transport.Request) bool {
		// The first one is the database connection.
		return r.Verb == "create" && r.Resource == "secrets" && secrets.Add(1) > 1
	})
	testutil.Start(t, refusals.Config(asOperator), namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionFalse, "GeneratingKeys", "keystone-fernet-keys")
	expect.Condition(t, c, k, "CredentialKeysReady", metav1.ConditionFalse, "GeneratingKeys", "keystone-credential-keys")
	allow()
	ready(t, c, k)
}
