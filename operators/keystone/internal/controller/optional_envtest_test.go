//go:build integration

package controller_test

import (
	"context"
	"testing"
	"time"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/foreign"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// bare is an API server without any foreign kind and one operator for all of
// its namespaces, which is never restarted.
type bare struct {
	*testing.T
	env      *envtest.Env
	client   client.Client
	operator *testutil.Operator
}

func newBare(t *testing.T) *bare {
	t.Helper()
	b := &bare{T: t, env: envtest.Start(t, envtest.Options{CRDs: []string{crdDirectory}})}
	b.client = b.env.Client(t, controller.Scheme())
	b.run(standin.NewDeployments(), standin.NewJobs())
	cfg, err := b.env.User(t.Context(), "keystone-operator", rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	// What comes and goes shows in the definitions of kinds, which are watched.
	b.operator = testutil.Start(t, cfg, "", func(o *controller.Options) { o.DiscoveryInterval = time.Hour })
	return b
}

// run runs stand-ins until the returned function is called or the test ends.
func (b *bare) run(standins ...standin.Standin) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	b.Cleanup(cancel)
	if err := standin.Run(ctx, b.env.Config, standins...); err != nil {
		b.Fatal(err)
	}
	return cancel
}

// newKeystone creates a Keystone of the mode in a namespace of its own.
func (b *bare) newKeystone(k func(namespace, name string) *keystonev1alpha1.Keystone, inputs []client.Object) *keystonev1alpha1.Keystone {
	b.Helper()
	namespace := b.env.Namespace(b.T)
	for _, obj := range inputs {
		obj.SetNamespace(namespace)
		objects.Create(b.T, b.client, obj)
	}
	created := k(namespace, testutil.Name)
	objects.Create(b.T, b.client, created)
	return created
}

// removeMariaDB takes the kinds of mariadb-operator away. The finalizers of the
// Keystone's objects go first: the API server waits for five seconds where it
// meets any.
func (b *bare) removeMariaDB(operator *standin.MariaDB, k *keystonev1alpha1.Keystone) {
	b.Helper()
	for _, kind := range []string{"Database", "User", "Grant"} {
		operator.Set(kind, k.Namespace, k.Name, standin.Hang())
		obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name}}
		obj.SetGroupVersionKind(mariadbv1alpha1.GroupVersion.WithKind(kind))
		objects.Change(b.T, b.client, obj, func(o *metav1.PartialObjectMetadata) { o.Finalizers = nil })
	}
	foreign.Remove(b.T, b.env.Config, foreign.MariaDB)
}

func TestForeignKindsComeAndGoWhileTheOperatorRuns(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	brownfield := b.newKeystone(testutil.Brownfield, testutil.Secrets(""))
	managed := b.newKeystone(testutil.Managed, testutil.Secrets(""))

	// Nothing is installed: brownfield needs nothing, managed says what it needs.
	ready(t, b.client, brownfield)
	expect.Condition(t, b.client, managed, "DatabaseReady", metav1.ConditionFalse, "MariaDBNotInstalled",
		"spec.database.clusterRef", "mariadb-operator", "install")

	// mariadb-operator is installed.
	foreign.Install(t, b.env.Config, foreign.MariaDB)
	operator := standin.NewMariaDB()
	stop := b.run(operator)
	expect.Condition(t, b.client, managed, "DatabaseReady", metav1.ConditionFalse, "ClusterNotReady", testutil.Cluster)
	cluster := testutil.MariaDB(managed.Namespace)
	objects.Create(t, b.client, cluster)
	ready(t, b.client, managed)

	// It is removed again, with all its objects.
	b.removeMariaDB(operator, managed)
	expect.Condition(t, b.client, managed, "DatabaseReady", metav1.ConditionFalse, "MariaDBNotInstalled")
	stop()
	ready(t, b.client, brownfield)

	// It comes back.
	foreign.Install(t, b.env.Config, foreign.MariaDB)
	operator = standin.NewMariaDB()
	b.run(operator)
	objects.Create(t, b.client, testutil.MariaDB(managed.Namespace))
	ready(t, b.client, managed)

	// Deletion ends also when the kinds are gone.
	b.removeMariaDB(operator, managed)
	expect.Condition(t, b.client, managed, "DatabaseReady", metav1.ConditionFalse, "MariaDBNotInstalled")
	objects.Delete(t, b.client, managed.DeepCopy())
	expect.Gone(t, b.client, managed)
	ready(t, b.client, brownfield)
}

func TestARouteWaitsForTheGatewayAPI(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	k := b.newKeystone(func(namespace, name string) *keystonev1alpha1.Keystone {
		k := testutil.Brownfield(namespace, name)
		k.Spec.Gateway = &commonv1.GatewaySpec{
			Hostname: "keystone.example.com", ParentRef: commonv1.GatewayParentRefSpec{Name: "gateway"},
		}
		return k
	}, testutil.Secrets(""))
	expect.Condition(t, b.client, k, "HTTPRouteReady", metav1.ConditionFalse, "GatewayAPINotInstalled")
	expect.Condition(t, b.client, k, "DeploymentReady", metav1.ConditionTrue, "DeploymentReady")
	foreign.Install(t, b.env.Config, foreign.GatewayAPI)
	expect.Condition(t, b.client, k, "HTTPRouteReady", metav1.ConditionFalse, "HTTPRouteNotAccepted")
	settle(t, b.client, k, b.operator)
	route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name}}
	objects.ChangeStatus(t, b.client, route, func(r *gatewayv1.HTTPRoute) {
		condition := func(conditionType gatewayv1.RouteConditionType) metav1.Condition {
			return metav1.Condition{
				Type: string(conditionType), Status: metav1.ConditionTrue, Reason: "Fine",
				ObservedGeneration: r.Generation, LastTransitionTime: metav1.Now(),
			}
		}
		r.Status.Parents = []gatewayv1.RouteParentStatus{{
			ParentRef: r.Spec.ParentRefs[0], ControllerName: "example.com/gateway",
			Conditions: []metav1.Condition{condition(gatewayv1.RouteConditionAccepted), condition(gatewayv1.RouteConditionResolvedRefs)},
		}}
	})
	expect.Condition(t, b.client, k, "HTTPRouteReady", metav1.ConditionTrue, "HTTPRouteAccepted")
}

func TestAMissingSecretIsExplainedByExternalSecrets(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	k := b.newKeystone(testutil.Brownfield, testutil.Secrets("")[1:])
	expect.Condition(t, b.client, k, "SecretsReady", metav1.ConditionFalse, "WaitingForDBCredentials", "create it")

	foreign.Install(t, b.env.Config, foreign.ExternalSecrets)
	eso := standin.NewExternalSecrets()
	b.run(eso)
	store := newStore()
	eso.Set("ClusterSecretStore", "", store.GetName(), standin.Fail("sealed"))
	objects.Create(t, b.client, store, newExternalSecret(k.Namespace, testutil.DatabaseSecret))
	expect.Condition(t, b.client, k, "SecretsReady", metav1.ConditionFalse, "SecretStoreNotReady", store.GetName())
	eso.Set("ClusterSecretStore", "", store.GetName(), standin.Succeed())
	expect.Condition(t, b.client, k, "SecretsReady", metav1.ConditionFalse, "WaitingForDBCredentials", "ExternalSecret")

	eso.Put("database", map[string]string{"username": "u", "password": "p"})
	eso.Set("ExternalSecret", k.Namespace, testutil.DatabaseSecret, standin.Succeed())
	ready(t, b.client, k)
}

func TestAPolicyConfigMapThatChangesIsNoticed(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	testutil.Start(t, asOperator, namespace)
	policy := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "policy"},
		Data:       map[string]string{"policy.yaml": "identity:list_users: role:admin\n"},
	}
	k := testutil.Brownfield(namespace, testutil.Name)
	k.Spec.PolicyOverrides = &commonv1.PolicySpec{ConfigMapRef: &corev1.LocalObjectReference{Name: policy.Name}}
	objects.Create(t, c, policy, k)
	ready(t, c, k)
	expect.Condition(t, c, k, "PolicyValidReady", metav1.ConditionTrue, "PolicyValidationPassed")
	objects.Change(t, c, policy, func(p *corev1.ConfigMap) { p.Data = map[string]string{"policy.yaml": "not: [a policy"} })
	expect.Condition(t, c, k, "SecretsReady", metav1.ConditionFalse, "ConfigError", "spec.policyOverrides.configMapRef")
	objects.Change(t, c, policy, func(p *corev1.ConfigMap) {
		p.Data = map[string]string{"policy.yaml": "identity:list_users: role:reader\n"}
	})
	ready(t, c, k)
}
