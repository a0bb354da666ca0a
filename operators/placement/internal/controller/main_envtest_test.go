//go:build integration

package controller_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	kit "github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/foreign"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
	"github.com/c5c3/forge/operators/placement/internal/controller"
)

// What all tests of this package share: one API server with the kinds of every foreign
// project, and the stand-ins for the controllers of a cluster. Each test has a namespace of
// its own and an operator that sees nothing else.
var (
	env *envtest.Env
	// admin has all rights, asOperator those that the chart gives the operator.
	admin       client.Client
	asOperator  *rest.Config
	deployments = standin.NewDeployments()
	jobs        = standin.NewJobs()
)

func TestMain(m *testing.M) {
	o := envtest.Options{CRDs: []string{"../../config/crd/bases"}, Foreign: foreign.All, GarbageCollector: true}
	envtest.Main(m, o, func(ctx context.Context, e *envtest.Env) (err error) {
		env = e
		if admin, err = client.New(e.Config, client.Options{Scheme: controller.Controller.Scheme()}); err != nil {
			return err
		}
		if asOperator, err = e.User(ctx, "placement-operator", "../../helm/placement-operator/files/rbac-rules.yaml"); err != nil {
			return err
		}
		return standin.Run(ctx, e.Config, deployments, jobs, standin.NewMariaDB())
	})
}

// healthy answers every health check.
type healthy struct{}

func (healthy) Do(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// running is an operator, with its requests and the number of its passes.
type running struct {
	ctrlreconcile.Reconciler
	requests transport.Counter
	passes   atomic.Int64
}

func (r *running) Reconcile(ctx context.Context, request ctrlreconcile.Request) (ctrlreconcile.Result, error) {
	defer r.passes.Add(1)
	return r.Reconciler.Reconcile(ctx, request)
}

// start runs an operator for the namespace until the test ends.
func start(t *testing.T, namespace string) *running {
	t.Helper()
	run := &running{}
	settings := operator.Config{Namespace: namespace, MaxConcurrentReconciles: 2, OperatorNamespace: "placement-system"}
	mgr, err := ctrl.NewManager(run.requests.Config(asOperator), operator.ManagerOptions(operator.Options{
		Name: "placement-operator", Scheme: controller.Controller.Scheme(), CacheTransform: controller.Controller.Trim(),
	}, settings))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	options := kit.Options{Probe: healthy{}, Around: func(_ ctrl.Manager, r ctrlreconcile.Reconciler) ctrlreconcile.Reconciler {
		run.Reconciler = r
		return run
	}}
	if err := controller.Controller.SetupWith(ctx, mgr, settings, options); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return run
}

func secret(namespace, name, user, password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		StringData: map[string]string{"username": user, "password": password},
	}
}

// placement is a Placement with a database and a cache of somebody else's, or, in the
// MariaDB, a managed one.
func placement(namespace string, managed bool) *placementv1alpha1.Placement {
	p := &placementv1alpha1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "placement"},
		Spec: placementv1alpha1.PlacementSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Replicas: 1,
				Image:    commonv1.ImageSpec{Repository: "ghcr.io/c5c3/placement", Tag: "2025.2"},
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "placement", SecretRef: commonv1.SecretRefSpec{Name: "placement-db"},
				},
				Cache: commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			Identity:             placementv1alpha1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "placement-user"},
		},
	}
	if managed {
		p.Spec.Database.Host, p.Spec.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: "mariadb"}
	}
	return p
}

// started creates a Placement with all that it refers to, under a new operator.
func started(t *testing.T, managed bool) (*placementv1alpha1.Placement, *running) {
	t.Helper()
	namespace := env.Namespace(t)
	objects.Create(t, admin,
		secret(namespace, "placement-db", "placement", "database-password"), secret(namespace, "placement-user", "placement", "user-pa$$word"))
	if managed {
		server := &mariadbv1alpha1.MariaDB{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mariadb"}}
		server.Spec.Storage.Ephemeral = new(true)
		objects.Create(t, admin, server)
		expect.Condition(t, admin, server, "Ready", metav1.ConditionTrue, "Created")
	}
	run := start(t, namespace)
	p := placement(namespace, managed)
	objects.Create(t, admin, p)
	return p, run
}

func ready(t *testing.T, p *placementv1alpha1.Placement) {
	t.Helper()
	expect.Condition(t, admin, p, "Ready", metav1.ConditionTrue, "AllReady")
}
