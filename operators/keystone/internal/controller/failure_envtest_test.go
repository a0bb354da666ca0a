//go:build integration

package controller_test

import (
	"context"
	"errors"
	"net"
	"net/http"
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
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// world is what a failure happens in.
type world struct {
	*testing.T
	client    client.Client
	namespace string
	keystone  *keystonev1alpha1.Keystone
	operator  *testutil.Operator
}

// failure is one way in which a Keystone does not become ready at first.
type failure struct {
	name string
	// managed uses a MariaDB of the cluster.
	managed bool
	// without names objects of the fixtures that are not there.
	without []string
	// cause makes the failure before the Keystone is created.
	cause func(w *world)
	// condition and reason are where the failure shows.
	condition, reason string
	// says are parts of the condition's message.
	says []string
	// repair ends the failure.
	repair func(w *world)
}

func (f failure) run(t *testing.T) {
	t.Parallel()
	m := modes[0]
	if f.managed {
		m = modes[1]
	}
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

// setJob decides what becomes of a Job of the Keystone.
func setJob(name string, o standin.Outcome) func(*world) {
	return func(w *world) { jobs.Set(w.namespace, testutil.Name+"-"+name, o) }
}

func setDeployment(o standin.Outcome) func(*world) {
	return func(w *world) { deployments.Set(w.namespace, testutil.Name, o) }
}

// fixPassword is what a user does about a Job that could not log in.
func fixPassword(job string) func(*world) {
	return func(w *world) {
		w.Helper()
		setJob(job, standin.Succeed())(w)
		setSecret(w, testutil.DatabaseSecret, map[string]string{"password": "the-right-one"})
	}
}

func TestMissingInputsAreNamedAndAwaited(t *testing.T) {
	for _, f := range []failure{
		{
			name: "no database Secret", without: []string{testutil.DatabaseSecret},
			condition: "SecretsReady", reason: "WaitingForDBCredentials",
			says: []string{testutil.DatabaseSecret, "username", "password", "spec.database.secretRef"},
			repair: func(w *world) {
				objects.Create(w.T, w.client, secret(w.namespace, testutil.DatabaseSecret, map[string]string{"username": "u", "password": "p"}))
			},
		},
		{
			name: "no administrator Secret", without: []string{testutil.AdminSecret},
			condition: "SecretsReady", reason: "WaitingForAdminCredentials",
			says: []string{testutil.AdminSecret, "password", "spec.bootstrap.adminPasswordSecretRef"},
			repair: func(w *world) {
				objects.Create(w.T, w.client, secret(w.namespace, testutil.AdminSecret, map[string]string{"password": "p"}))
			},
		},
		{
			name: "database Secret with a wrong key", without: []string{testutil.DatabaseSecret},
			cause: func(w *world) {
				objects.Create(w.T, w.client, secret(w.namespace, testutil.DatabaseSecret, map[string]string{"username": "u", "pasword": "p"}))
			},
			condition: "SecretsReady", reason: "WaitingForDBCredentials", says: []string{testutil.DatabaseSecret, "password"},
			repair: func(w *world) { setSecret(w, testutil.DatabaseSecret, map[string]string{"password": "p"}) },
		},
		{
			name: "administrator Secret with an empty password", without: []string{testutil.AdminSecret},
			cause: func(w *world) {
				objects.Create(w.T, w.client, secret(w.namespace, testutil.AdminSecret, map[string]string{"password": ""}))
			},
			condition: "SecretsReady", reason: "WaitingForAdminCredentials", says: []string{testutil.AdminSecret, "password"},
			repair: func(w *world) { setSecret(w, testutil.AdminSecret, map[string]string{"password": "p"}) },
		},
		{
			name: "no policy ConfigMap",
			cause: func(w *world) {
				w.keystone.Spec.PolicyOverrides = &commonv1.PolicySpec{ConfigMapRef: &corev1.LocalObjectReference{Name: "policy"}}
			},
			condition: "SecretsReady", reason: "ConfigError", says: []string{"policy", "spec.policyOverrides.configMapRef"},
			repair: func(w *world) {
				objects.Create(w.T, w.client, &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "policy"},
					Data:       map[string]string{"policy.yaml": "identity:list_users: role:admin\n"},
				})
			},
		},
		{
			name: "no MariaDB", managed: true, without: []string{testutil.Cluster},
			condition: "DatabaseReady", reason: "ClusterNotReady", says: []string{testutil.Cluster, "does not exist"},
			repair: func(w *world) { objects.Create(w.T, w.client, testutil.MariaDB(w.namespace)) },
		},
	} {
		t.Run(f.name, f.run)
	}
}

func TestAFailingDatabaseIsExplainedAndAwaited(t *testing.T) {
	for _, f := range []failure{
		{
			name: "MariaDB that is not ready", managed: true,
			cause:     func(w *world) { mariadb.Set("MariaDB", w.namespace, testutil.Cluster, standin.Fail("no storage")) },
			condition: "DatabaseReady", reason: "ClusterNotReady", says: []string{testutil.Cluster, "not ready"},
			repair: func(w *world) { mariadb.Set("MariaDB", w.namespace, testutil.Cluster, standin.Succeed()) },
		},
		{
			name: "mariadb-operator that is down", managed: true,
			cause:     func(w *world) { mariadb.Set("Database", w.namespace, testutil.Name, standin.Hang()) },
			condition: "DatabaseReady", reason: "WaitingForDatabase", says: []string{"Database", testutil.Name},
			repair: func(w *world) { mariadb.Set("Database", w.namespace, testutil.Name, standin.Succeed()) },
		},
		{
			name: "Grant that fails", managed: true,
			cause:     func(w *world) { mariadb.Set("Grant", w.namespace, testutil.Name, standin.Fail("no such user")) },
			condition: "DatabaseReady", reason: "WaitingForDatabase", says: []string{"Grant"},
			repair: func(w *world) { mariadb.Set("Grant", w.namespace, testutil.Name, standin.Succeed()) },
		},
		{
			name: "db-sync that runs", cause: setJob("db-sync", standin.Hang()),
			condition: "DatabaseReady", reason: "DBSyncInProgress", says: []string{"keystone-db-sync"},
			repair: setJob("db-sync", standin.Succeed()),
		},
		{
			name: "keys that nothing has asked for yet", cause: setJob("db-sync", standin.Hang()),
			condition: "BackupHealthy", reason: "BackupPending",
			says:   []string{"No keys in Secret keystone-fernet-keys and keystone-credential-keys yet", "FernetKeysReady"},
			repair: setJob("db-sync", standin.Succeed()),
		},
		{
			name: "db-sync with a wrong password", cause: setJob("db-sync", standin.Fail("Access denied for user 'keystone'")),
			condition: "DatabaseReady", reason: "DBSyncFailed", says: []string{"Access denied for user 'keystone'"},
			repair: fixPassword("db-sync"),
		},
		{
			name:      "db-sync without its image",
			cause:     setJob("db-sync", standin.NoImage("not found")),
			condition: "DatabaseReady", reason: "DBSyncInProgress", says: []string{"ghcr.io/c5c3/keystone:2025.2", "spec.image"},
			repair: func(w *world) {
				setJob("db-sync", standin.Succeed())(w)
				objects.Change(w.T, w.client, w.keystone, func(k *keystonev1alpha1.Keystone) { k.Spec.Image.Repository = "ghcr.io/c5c3/other" })
			},
		},
		{
			name: "schema check that runs", cause: setJob("schema-check", standin.Hang()),
			condition: "DatabaseReady", reason: "SchemaCheckInProgress", says: []string{"keystone-schema-check"},
			repair: setJob("schema-check", standin.Succeed()),
		},
		{
			// db_sync --check answers 2 when the schema has to be expanded.
			name: "schema that does not fit", cause: setJob("schema-check", standin.FailWith(2, "needs expand")),
			condition: "DatabaseReady", reason: "SchemaDriftDetected", says: []string{"needs expand"},
			repair: fixPassword("schema-check"),
		},
	} {
		t.Run(f.name, f.run)
	}
}

func TestAFailingServiceIsExplainedAndAwaited(t *testing.T) {
	for _, f := range []failure{
		{
			name: "rollout that stands still", cause: setDeployment(standin.Fail("deadline")),
			condition: "DeploymentReady", reason: "WaitingForDeployment", says: []string{"0 available"},
			repair: setDeployment(standin.Succeed()),
		},
		{
			name: "rollout without its image", cause: setDeployment(standin.NoImage("not found")),
			condition: "DeploymentReady", reason: "ImagePullFailed", says: []string{"ghcr.io/c5c3/keystone:2025.2", "spec.image"},
			repair: setDeployment(standin.Succeed()),
		},
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
	} {
		t.Run(f.name, f.run)
	}
}

func TestAFirstInstallationStartsItsPodsBesideTheSchemaCheck(t *testing.T) {
	failure{
		name: "schema check that runs", cause: setJob("schema-check", standin.Hang()),
		condition: "DatabaseReady", reason: "SchemaCheckInProgress",
		repair: func(w *world) {
			expect.Condition(w.T, w.client, w.keystone, "DeploymentReady", metav1.ConditionTrue, "DeploymentReady")
			expect.Condition(w.T, w.client, w.keystone, "BootstrapReady", metav1.ConditionTrue, "BootstrapComplete")
			expect.Condition(w.T, w.client, w.keystone, "Ready", metav1.ConditionFalse, "NotAllReady", "DatabaseReady")
			setJob("schema-check", standin.Succeed())(w)
		},
	}.run(t)
}

// quota is what the API server answers when it refuses a pod.
const quota = "exceeded quota: team, requested: limits.cpu=500m, used: limits.cpu=2, limited: limits.cpu=2"

func TestPodsThatAreNeverCreatedAreExplained(t *testing.T) {
	explained := []string{"no pod can be created: " + quota, "raise the ResourceQuota"}
	for _, f := range []failure{
		{
			name: "API pods", cause: setDeployment(standin.Refuse(quota)),
			condition: "DeploymentReady", reason: "WaitingForDeployment", says: explained,
			repair: setDeployment(standin.Succeed()),
		},
		{
			name: "db-sync", cause: setJob("db-sync", standin.Refuse(quota)),
			condition: "DatabaseReady", reason: "DBSyncInProgress", says: append([]string{"Job keystone-db-sync"}, explained...),
			repair: setJob("db-sync", standin.Succeed()),
		},
		{
			name: "schema check", cause: setJob("schema-check", standin.Refuse(quota)),
			condition: "DatabaseReady", reason: "SchemaCheckInProgress", says: explained,
			repair: setJob("schema-check", standin.Succeed()),
		},
		{
			name: "bootstrap", cause: setJob("bootstrap", standin.Refuse(quota)),
			condition: "BootstrapReady", reason: "BootstrapInProgress", says: explained,
			repair: setJob("bootstrap", standin.Succeed()),
		},
	} {
		t.Run(f.name, f.run)
	}
}

func TestAnAPIThatDoesNotAnswerIsNotReady(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connect: connection refused")}
	unknown := &net.DNSError{Err: "no such host", Name: "keystone", IsNotFound: true}
	for _, f := range []failure{
		{
			name: "server error", reason: "APIUnhealthy", says: []string{"500"},
			cause: func(w *world) { w.operator.API.Answer(http.StatusInternalServerError) },
		},
		{name: "refused connection", reason: "ConnectionFailed", cause: func(w *world) { w.operator.API.Fail(refused) }},
		{name: "unknown host", reason: "EndpointNotReady", cause: func(w *world) { w.operator.API.Fail(unknown) }},
		{name: "no answer", reason: "HealthCheckTimeout", cause: func(w *world) { w.operator.API.Fail(context.DeadlineExceeded) }},
		{name: "garbage", reason: "HealthCheckFailed", cause: func(w *world) { w.operator.API.Fail(errors.New("malformed HTTP response")) }},
	} {
		f.condition = "KeystoneAPIReady"
		f.repair = func(w *world) {
			w.operator.API.Answer(http.StatusOK)
			// A change of the rollout makes the operator ask again at once.
			setDeployment(standin.Fail("restarting"))(w)
			expect.Condition(w.T, w.client, w.keystone, "DeploymentReady", metav1.ConditionFalse, "WaitingForDeployment")
			setDeployment(standin.Succeed())(w)
		}
		t.Run(f.name, f.run)
	}
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

func TestAnAPIThatWasNotAskedYetIsNotReady(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	operator := testutil.Start(t, asOperator, namespace)
	answer := operator.API.Hold()
	t.Cleanup(answer)
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	expect.Condition(t, c, k, "KeystoneAPIReady", metav1.ConditionFalse, "ProbePending")
	expect.Condition(t, c, k, "Reconciling", metav1.ConditionTrue, "Progressing", "KeystoneAPIReady")
	answer()
	ready(t, c, k)
}

func TestAFailureIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	jobs.Set(namespace, "keystone-db-sync", standin.Fail("Access denied"))
	operator := testutil.Start(t, asOperator, namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "DBSyncFailed")
	settle(t, c, k, operator)
	pass(t, c, k, operator)
	expectEvent(t, c, k, "Warning DBSyncFailed")
	for event, times := range operator.Announced() {
		if strings.HasPrefix(event, "Warning ") && (event != "Warning DBSyncFailed" || times != 1) {
			t.Errorf("the event %s occurred %d times, expected one DBSyncFailed alone", event, times)
		}
	}
}

func TestNoMessageShowsAPassword(t *testing.T) {
	t.Parallel()
	const password = "database-password"
	c, namespace := newNamespace(t, testutil.Secrets)
	jobs.Set(namespace, "keystone-db-sync", standin.Fail("cannot connect to mysql+pymysql://keystone:"+password+"@db.example.com/keystone"))
	operator := testutil.Start(t, asOperator, namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "DBSyncFailed")
	expectEvent(t, c, k, "Warning DBSyncFailed")
	operator.Stop()
	if state := expect.State(t, c, k); strings.Contains(state, password) {
		t.Errorf("conditions or events show the password:\n%s", state)
	}
	if strings.Contains(operator.Log(), password) {
		t.Error("the operator's log shows the password")
	}
}

// The nodes learn later than the Deployment's status that a pod is out of
// service: a probe at that moment is still answered.
func TestAnAPIWithoutAReadyPodIsNotHealthyWhateverAProbeFinds(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	w := &world{T: t, client: c, namespace: k.Namespace, keystone: k}
	setDeployment(standin.Fail("no pod is ready"))(w)
	expect.Condition(t, c, k, "KeystoneAPIReady", metav1.ConditionFalse, "ConnectionFailed", "No API pod is ready")
	setDeployment(standin.Succeed())(w)
	ready(t, c, k)
}
