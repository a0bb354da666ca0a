//go:build integration

package controller_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// All tests of this package share one API server with the kinds of every third-party project,
// and the stand-ins for a cluster's controllers. Each test has its own namespace and its
// own operator, which sees nothing else.
var (
	env *envtest.Env
	// admin has all permissions.
	admin client.Client
	// asOperator has the permissions that the chart grants the operator.
	asOperator  *rest.Config
	deployments = standin.NewDeployments()
	jobs        = standin.NewJobs()
	mariadb     = standin.NewMariaDB()
	secrets     = standin.NewExternalSecrets()
)

const (
	crdDirectory = "../../config/crd/bases"
	rulesFile    = "../../helm/keystone-operator/files/rbac-rules.yaml"
)

func TestMain(m *testing.M) {
	o := envtest.Options{
		CRDs: conformance.Definitions(keystonev1alpha1.Kind), ThirdParty: thirdparty.All, GarbageCollector: true,
		Vocabularies: vocabularies(), Sampled: !keystones().Exemplary,
	}
	envtest.Main(m, o, func(ctx context.Context, e *envtest.Env) (err error) {
		env = e
		if admin, err = e.NewClient(controller.Controller.Scheme()); err != nil {
			return err
		}
		if asOperator, err = e.User(ctx, "keystone-operator", rulesFile); err != nil {
			return err
		}
		return standin.Run(ctx, e.Config, deployments, jobs, mariadb, secrets)
	})
}

// newNamespace returns a client with all permissions and a namespace that contains the
// objects.
func newNamespace(t *testing.T, inputs ...func(namespace string) []client.Object) (client.Client, string) {
	t.Helper()
	namespace := env.Namespace(t)
	for _, make := range inputs {
		objects.Create(t, admin, make(namespace)...)
	}
	return admin, namespace
}

// withCluster adds a MariaDB to the Secrets of the fixtures.
func withCluster(namespace string) []client.Object {
	return append(testutil.Secrets(namespace), testutil.MariaDB(namespace))
}

// mode is one way of providing the database.
type mode struct {
	name     string
	inputs   func(namespace string) []client.Object
	keystone func(namespace, name string) *keystonev1alpha1.Keystone
}

var modes = []mode{
	{"brownfield", testutil.Secrets, testutil.Brownfield},
	{"managed", withCluster, testutil.Managed},
}

// converged starts an operator in its own namespace and waits until a Keystone of the
// mode is ready and its keys are backed up. Ready does not wait for the backup; after
// both nothing is in progress any more.
func converged(t *testing.T, m mode) (client.Client, *keystonev1alpha1.Keystone, *testutil.Operator) {
	t.Helper()
	c, namespace := newNamespace(t, m.inputs)
	operator := testutil.Start(t, asOperator, namespace)
	k := m.keystone(namespace, testutil.Name)
	if k.Spec.Database.ClusterRef != nil {
		expect.Condition(t, c, testutil.MariaDB(namespace), "Ready", metav1.ConditionTrue, "Created")
	}
	objects.Create(t, c, k)
	backedUp(t, c, k)
	ready(t, c, k)
	return c, k, operator
}
