//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/ask"
	common "github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// All tests of this package share one API server and stand-ins for the backing operators. Each
// test has its own namespace. Most of them share the operator with the permissions from its
// chart, and simulate the Keystone operator. In the namespaces of conformance tests and crash
// walks there are other operators, and stand-ins for the operators of services.
var (
	env       *envtest.Env
	conform   conformance.World
	requests  = &transport.Counter{}
	refusals  = &transport.Refusals{}
	holds     = &transport.Holds{}
	mariadb   = standin.NewMariaDB()
	memcached = standin.NewReady(infraapi.MemcachedKind)
	secrets   = standin.NewExternalSecrets()
	korc      = standin.NewKORC()
	log       = &lines{}
)

func TestMain(m *testing.M) {
	o := envtest.Options{
		CRDs: []string{
			"../../config/crd/bases", "../../../barbican/config/crd/bases", "../../../glance/config/crd/bases",
			"../../../horizon/config/crd/bases", "../../../keystone/config/crd/bases", "../../../placement/config/crd/bases",
			"../../../../deploy/infra/memcached-operator/crd.yaml",
		},
		ThirdParty:       []thirdparty.Project{thirdparty.MariaDB, thirdparty.ExternalSecrets, thirdparty.KORC},
		GarbageCollector: true, Vocabularies: vocabularies(),
	}
	envtest.Main(m, o, func(ctx context.Context, e *envtest.Env) error {
		env = e
		if err := createStore(ctx); err != nil {
			return err
		}
		if err := standin.Run(ctx, e.Config, mariadb, memcached, secrets, korc); err != nil {
			return err
		}
		user, err := e.User(ctx, "c5c3-operator", "../../helm/c5c3-operator/files/rbac-rules.yaml")
		if err != nil {
			return err
		}
		conform = conformance.World{Env: e, AsOperator: user}
		if conform.Admin, err = e.NewClient(controller.Scheme()); err != nil {
			return err
		}
		go func() {
			shared := testutil.Program(korc, func(t *pass.Tools) {
				t.Login, t.RevokeCredential, t.Enrol, t.DeleteUser, t.SetEndpoints = login, revoke, enrol, revoke, setEndpoints
				t.Ahead, t.Day, t.RetryPeriod, t.StallTimeout, t.SpreadTime = ahead, day, 500*time.Millisecond, stall, time.Second
			})
			// This level includes every pass.
			shared.Log = funcr.New(log.add, funcr.Options{Verbosity: 5})
			cfg := holds.Config(refusals.Config(requests.Config(user)))
			if err := shared.Run(ctx, cfg, "", common.Options{Around: onlyWorlds}); err != nil {
				fmt.Fprintln(os.Stderr, "the operator ended with:", err)
			}
		}()
		return playServices(ctx, e.Config)
	})
}

// worlds are the namespaces of the shared operator, with true until their test has ended.
var worlds sync.Map

// onlyWorlds leaves all other namespaces alone.
func onlyWorlds(_ ctrl.Manager, all ctrlreconcile.Reconciler) ctrlreconcile.Reconciler {
	return ctrlreconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		if goesOn, is := worlds.Load(request.Namespace); !is || goesOn != true {
			return ctrl.Result{}, nil
		}
		return all.Reconcile(ctx, request)
	})
}

func createStore(ctx context.Context) error {
	c, err := env.NewClient(controller.Scheme())
	if err != nil {
		return err
	}
	return c.Create(ctx, secretStore())
}

func secretStore() *esov1.ClusterSecretStore {
	return &esov1.ClusterSecretStore{
		ObjectMeta: metav1.ObjectMeta{Name: "openbao-cluster-store"},
		Spec:       esov1.SecretStoreSpec{Provider: &esov1.SecretStoreProvider{Fake: &esov1.FakeProvider{Data: []esov1.FakeProviderData{}}}},
	}
}

// unreachable are the namespaces whose Keystone the operator cannot reach.
var unreachable sync.Map

// rejecting are the namespaces whose Keystone accepts no application credential.
var rejecting sync.Map

// silent holds a channel for each namespace whose Keystone does not answer until that
// channel is closed.
var silent sync.Map

// hear waits while a Keystone is silent.
func hear(ctx context.Context, namespace string) {
	if speaks, ok := silent.Load(namespace); ok {
		select {
		case <-speaks.(chan struct{}):
		case <-ctx.Done():
		}
	}
}

// login logs in to the Keystone of the K-ORC stand-in.
func login(ctx context.Context, authURL, id, secret string) (ask.Verdict, error) {
	namespace := testutil.NamespaceOf(authURL)
	hear(ctx, namespace)
	if _, away := unreachable.Load(namespace); away {
		return ask.Unproven, errors.New("no route to host")
	}
	if _, deaf := rejecting.Load(namespace); deaf {
		return ask.Rejected, nil
	}
	return testutil.Login(korc)(ctx, authURL, id, secret)
}

// revoke revokes a credential there.
func revoke(ctx context.Context, authURL, password, id string) error {
	hear(ctx, testutil.NamespaceOf(authURL))
	if _, away := unreachable.Load(testutil.NamespaceOf(authURL)); away {
		return errors.New("no route to host")
	}
	return testutil.Revoke(korc)(ctx, authURL, password, id)
}

// enrol enrols a service user there.
func enrol(ctx context.Context, authURL, password string, user identity.ServiceUser) (ask.Verdict, error) {
	namespace := testutil.NamespaceOf(authURL)
	hear(ctx, namespace)
	if _, away := unreachable.Load(namespace); away {
		return ask.Unproven, errors.New("no route to host")
	}
	return testutil.Enrol(korc)(ctx, authURL, password, user)
}

// forbidding are the namespaces whose Keystone forbids changes of endpoints.
var forbidding sync.Map

// setEndpoints asks it, too.
func setEndpoints(
	ctx context.Context, authURL string, look identity.Credential, password, region string, wanted []identity.Endpoint,
) (ask.Verdict, error) {
	namespace := testutil.NamespaceOf(authURL)
	hear(ctx, namespace)
	if _, away := unreachable.Load(namespace); away {
		return ask.Unproven, errors.New("no route to host")
	}
	if _, forbids := forbidding.Load(namespace); forbids {
		return ask.Rejected, errors.New("it answered with status 403")
	}
	return testutil.SetEndpoints(korc)(ctx, authURL, look, password, region, wanted)
}

// world is a namespace with a control plane.
type world struct {
	client.Client
	cp *c5c3v1alpha1.ControlPlane
}

// newWorld creates a minimal control plane with the changes, and the credentials that it
// needs in the secret store.
func newWorld(t *testing.T, changes ...func(*c5c3v1alpha1.ControlPlane)) *world {
	t.Helper()
	w := emptyWorld(t)
	w.seed()
	for _, change := range changes {
		change(w.cp)
	}
	objects.Create(t, w, w.cp)
	return w
}

func emptyWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Client: env.Client(t, controller.Scheme()), cp: minimal(env.Namespace(t))}
	worlds.Store(w.cp.Namespace, true)
	t.Cleanup(func() {
		// The operator would go on with what the test has left, and slow down the other tests.
		worlds.Store(w.cp.Namespace, false)
		if t.Failed() {
			t.Logf("the control plane:\n%s\nthe operator's log:\n%s", expect.State(t, w, w.cp), log.of(w.cp.Namespace))
		}
	})
	return w
}

// minimal is the minimum that a user has to write.
func minimal(namespace string) *c5c3v1alpha1.ControlPlane {
	return &c5c3v1alpha1.ControlPlane{
		ObjectMeta: metav1.ObjectMeta{Name: "controlplane", Namespace: namespace},
		Spec: c5c3v1alpha1.ControlPlaneSpec{
			OpenStackRelease: "2025.2", Services: c5c3v1alpha1.ServicesSpec{Keystone: &c5c3v1alpha1.ServiceKeystoneSpec{}},
		},
	}
}

func (w *world) seed() {
	w.seedDatabase()
	secrets.Put("bootstrap/"+w.cp.Namespace+"/controlplane-keystone/admin", map[string]string{"password": "admin-password"})
}

func (w *world) seedDatabase() {
	secrets.Put("openstack/keystone/"+w.cp.Namespace+"/controlplane/db", map[string]string{"username": "keystone", "password": "db-password"})
}

// refuse makes the API server reject the operator's calls about an object of the world
// until the returned function is called.
func (w *world) refuse(t *testing.T, verb, resource, name string) (lift func()) {
	t.Helper()
	namespace := w.cp.Namespace
	lift = refusals.Refuse(func(r transport.Request) bool {
		return r.Namespace == namespace && r.Verb == verb && r.Resource == resource && r.Name == name && r.Subresource == ""
	})
	t.Cleanup(lift)
	return lift
}

// follow records all changes of the control plane, including short-lived ones.
func (w *world) follow(t *testing.T) *expect.Changes {
	t.Helper()
	return expect.Follow(t, env.Config, w, w.cp)
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: w.cp.Namespace}
}

// expect waits for a condition of the control plane.
func (w *world) expect(t *testing.T, conditionType string, status metav1.ConditionStatus, reason string, says ...string) {
	t.Helper()
	expect.Condition(t, w, w.cp, conditionType, status, reason, says...)
}

// keystone waits for the Keystone and returns it.
func (w *world) keystone(t *testing.T) *keystonev1alpha1.Keystone {
	t.Helper()
	k := &keystonev1alpha1.Keystone{ObjectMeta: w.meta("controlplane-keystone")}
	expect.Exists(t, w, k)
	return k
}

// report simulates a Keystone operator that has observed the current spec.
func (w *world) report(t *testing.T, installed, target string, ready bool) {
	t.Helper()
	objects.ChangeStatus(t, w, w.keystone(t), func(k *keystonev1alpha1.Keystone) {
		condition := metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "NotAllReady", Message: "pods are starting",
			ObservedGeneration: k.Generation, LastTransitionTime: metav1.Now(),
		}
		if ready {
			condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, "AllReady", "All sub-resources are ready"
		}
		k.Status.Conditions = []metav1.Condition{condition}
		k.Status.InstalledRelease, k.Status.TargetRelease = installed, target
	})
}

// converged is a control plane that is ready.
func converged(t *testing.T, changes ...func(*c5c3v1alpha1.ControlPlane)) *world {
	t.Helper()
	w := newWorld(t, changes...)
	w.report(t, "2025.2", "", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	return w
}
