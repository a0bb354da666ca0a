//go:build integration

package testutil_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil"
)

var (
	env        *envtest.Env
	asOperator *rest.Config
)

func TestMain(m *testing.M) {
	o := envtest.Options{CRDs: []string{"../../config/crd/bases"}, Long: true}
	envtest.Main(m, o, func(ctx context.Context, e *envtest.Env) (err error) {
		env = e
		asOperator, err = e.User(ctx, "c5c3-operator", "../../helm/c5c3-operator/files/rbac-rules.yaml")
		return err
	})
}

const name = "collected"

func collecting(namespace string) *c5c3v1alpha1.SecretAggregate {
	return &c5c3v1alpha1.SecretAggregate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: c5c3v1alpha1.SecretAggregateSpec{
			Sources: []c5c3v1alpha1.SecretAggregateSource{{Credential: c5c3v1alpha1.AggregatedDatabaseCredentials}},
		},
	}
}

// former is the Secret that an operator has created under an earlier name.
func former(aggregate *c5c3v1alpha1.SecretAggregate) (*corev1.Secret, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: aggregate.Namespace, Name: "former", Labels: map[string]string{
			"app.kubernetes.io/managed-by": "c5c3-operator", "app.kubernetes.io/component": "secret-aggregate",
		},
	}}
	return secret, controllerutil.SetControllerReference(aggregate, secret, controller.Scheme())
}

// prepare creates a namespace with a control plane with an external database, and a
// SecretAggregate that was renamed while no operator was running.
func prepare(ctx context.Context, c client.Client) (namespace string, err error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "walk-"}}
	if err := c.Create(ctx, ns); err != nil {
		return "", err
	}
	cp := &c5c3v1alpha1.ControlPlane{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "controlplane"},
		Spec: c5c3v1alpha1.ControlPlaneSpec{
			OpenStackRelease: "2025.2", Services: c5c3v1alpha1.ServicesSpec{Keystone: &c5c3v1alpha1.ServiceKeystoneSpec{}},
		},
	}
	cp.Spec.Infrastructure.Database.Host = "db.example.com"
	c5c3v1alpha1.SetDefaults(cp)
	aggregate := collecting(ns.Name)
	source := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "keystone-db"},
		StringData: map[string]string{"username": "keystone", "password": "e2e"},
	}
	for _, obj := range []client.Object{cp, source, aggregate} {
		if err := c.Create(ctx, obj); err != nil {
			return "", err
		}
	}
	secret, err := former(aggregate)
	return ns.Name, errors.Join(err, c.Create(ctx, secret))
}

// settled returns nil if the Secret is complete and the former one is gone.
func settled(ctx context.Context, c client.Client, namespace string) error {
	aggregate := collecting(namespace)
	if err := c.Get(ctx, client.ObjectKeyFromObject(aggregate), aggregate); err != nil {
		return err
	}
	if !meta.IsStatusConditionTrue(aggregate.Status.Conditions, "Ready") {
		return fmt.Errorf("the conditions are %v", aggregate.Status.Conditions)
	}
	secret := &corev1.Secret{}
	switch err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "former"}, secret); {
	case err == nil:
		return errors.New("the former Secret is there")
	case !apierrors.IsNotFound(err):
		return err
	}
	return nil
}

// observe returns the content of each Secret of a SecretAggregate, and the reason of
// Ready.
func observe(ctx context.Context, c client.Client, namespace string) (map[string]string, error) {
	aggregate := collecting(namespace)
	if err := c.Get(ctx, client.ObjectKeyFromObject(aggregate), aggregate); err != nil {
		return nil, err
	}
	state := map[string]string{"target": aggregate.Status.TargetSecretName}
	if ready := meta.FindStatusCondition(aggregate.Status.Conditions, "Ready"); ready != nil {
		state["Ready"] = ready.Reason
	}
	var own corev1.SecretList
	err := c.List(ctx, &own, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/component": "secret-aggregate"})
	for _, secret := range own.Items {
		for key, value := range secret.Data {
			state[secret.Name+"/"+key] = string(value)
		}
	}
	return state, err
}

func scenario(t *testing.T, modes ...transport.Mode) crashwalk.Scenario[map[string]string] {
	t.Helper()
	c := env.Client(t, controller.Scheme())
	return crashwalk.Scenario[map[string]string]{
		Config: asOperator, Modes: modes,
		Writes:  map[string]int{"create secrets": 1, "delete secrets": 1, "update secretaggregates.c5c3.io/status": 1},
		Prepare: func(ctx context.Context) (string, error) { return prepare(ctx, c) },
		Operator: func(ctx context.Context, cfg *rest.Config, namespace string) error {
			return testutil.RunIn(ctx, cfg, namespace, controller.Options{DiscoveryInterval: time.Second}, logr.Discard())
		},
		Settled: func(ctx context.Context, namespace string) error { return settled(ctx, c, namespace) },
		Observe: func(ctx context.Context, namespace string) (map[string]string, error) {
			return observe(ctx, c, namespace)
		},
		Compare: func(undisturbed, _, final map[string]string) string { return cmp.Diff(undisturbed, final) },
	}
}

func TestASecretAggregateIsCompletedAfterAKillAtAnyWrite(t *testing.T) {
	t.Parallel()
	crashwalk.Walk(t, scenario(t, transport.KillAfter))
}

func TestASecretAggregateIsCompletedWhateverTheAPIServerAnswers(t *testing.T) {
	t.Parallel()
	way := scenario(t, transport.Conflict, transport.TooManyRequests, transport.InternalError, transport.Timeout)
	way.EveryCall = true
	crashwalk.Walk(t, way)
}
