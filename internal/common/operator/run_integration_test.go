//go:build integration

package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

var env *envtest.Env

func TestMain(m *testing.M) {
	envtest.Main(m, envtest.Options{}, func(_ context.Context, e *envtest.Env) error {
		env = e
		return nil
	})
}

func TestAnOperatorWithoutReadPermissionIsAliveButNotReady(t *testing.T) {
	namespace := env.Namespace(t)
	user := namedUser(namespace)
	r := start(t, namespace, user.config, watching(&seen{}), "--enable-webhooks=false", "--namespace="+namespace)

	expect.Eventually(t, "/healthz passes", r.passes("/healthz"))
	if err := r.passes("/readyz")(t.Context()); err == nil {
		t.Fatal("ready without permission to read what it watches")
	}
	user.allow(t, namespace)
	expect.Eventually(t, "/readyz passes with the permission", r.passes("/readyz"))
}

func TestAnOperatorIsNotReadyUntilItsWebhooksAreTrusted(t *testing.T) {
	namespace := env.Namespace(t)
	o := watching(&seen{})
	o.Webhooks = func(mgr ctrl.Manager, _ startup.Config) error {
		mgr.GetWebhookServer().Register("/admit", http.NotFoundHandler())
		return nil
	}
	name := namespace + "-identity"
	r := start(t, namespace, env.Config, o,
		"--webhook-cert-source=self-managed", "--webhook-service-name="+name, fmt.Sprintf("--webhook-port=%d", envtest.FreePort(t)))

	expect.Eventually(t, "the caches are filled", r.passes("/readyz/caches"))
	for _, check := range []string{"/readyz/webhook", "/readyz/webhook-certificate", "/readyz"} {
		if err := r.passes(check)(t.Context()); err == nil {
			t.Errorf("%s passes before anybody trusts the certificate", check)
		}
	}
	createAll(t,
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name + "-mutating"}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name + "-validating"}},
	)
	expect.Eventually(t, "/readyz passes with the webhook configurations", r.passes("/readyz"))
}

func TestAStoppingLeaderReleasesItsLease(t *testing.T) {
	namespace := env.Namespace(t)
	args := []string{"--enable-webhooks=false", "--leader-elect", "--namespace=" + namespace}
	first, second := &seen{}, &seen{}
	leader := start(t, namespace, env.Config, watching(first), args...)
	expect.Eventually(t, "the first replica leads", first.leads)
	follower := start(t, namespace, env.Config, watching(second), args...)
	expect.Eventually(t, "the second replica is ready while it waits", follower.passes("/readyz"))
	if second.leads(t.Context()) == nil {
		t.Fatal("two replicas lead at the same time")
	}

	former := leaseHolder(t, namespace)
	leader.stop(t)
	// Otherwise the other replica would wait until the lease expires.
	if leaseHolder(t, namespace) == former {
		t.Error("the first replica has stopped and holds the lease")
	}
	expect.Eventually(t, "the second replica leads", second.leads)
}

// leaseHolder returns the holder of the operators' lease in a namespace, or "".
func leaseHolder(t *testing.T, namespace string) string {
	t.Helper()
	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: namespace, Name: "test.example.com-" + namespace}
	if err := env.Client(t, clientgoscheme.Scheme).Get(t.Context(), key, lease); err != nil {
		t.Fatal(err)
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

func TestANamespacedOperatorNeedsOnlyARoleInItsNamespace(t *testing.T) {
	namespace, other := env.Namespace(t), env.Namespace(t)
	user := namedUser(namespace)
	user.allow(t, namespace)
	paths := record(user.config)
	s := &seen{}
	r := start(t, namespace, user.config, watching(s), "--enable-webhooks=false", "--leader-elect", "--namespace="+namespace)
	expect.Eventually(t, "/readyz passes", r.passes("/readyz"))

	createAll(t, ownConfigMap(other), ownConfigMap(namespace))
	expect.Eventually(t, "the object in the namespace is reconciled", func(context.Context) error {
		return s.reconciled(namespace)
	})
	if s.reconciled(other) == nil {
		t.Error("an object in another namespace was reconciled")
	}
	for _, path := range paths.all() {
		discovery := strings.Count(strings.Trim(path, "/"), "/") < 3 && !strings.HasPrefix(path, "/api/v1/")
		if !discovery && !strings.Contains(path, "/namespaces/"+namespace+"/") {
			t.Errorf("requested %s, want nothing outside namespace %s", path, namespace)
		}
	}
}

func TestForeignConfigMapsAreNotSeen(t *testing.T) {
	namespace := env.Namespace(t)
	s := &seen{}
	start(t, namespace, env.Config, watching(s), "--enable-webhooks=false", "--namespace="+namespace)
	foreign := ownConfigMap(namespace)
	foreign.Name, foreign.Labels = "foreign", nil
	createAll(t, foreign, ownConfigMap(namespace))
	expect.Eventually(t, "the own object is reconciled", func(context.Context) error { return s.reconciled(namespace) })
	if names := s.namesIn(namespace); !slices.Equal(names, []string{"own"}) {
		t.Errorf("reconciled %v, want only the object that carries the operator's label", names)
	}
}

func TestAFailingSetupEndsTheOperatorWithAReason(t *testing.T) {
	broken := errors.New("no such index")
	o := watching(&seen{})
	o.Setup = func(context.Context, ctrl.Manager, startup.Config) error { return broken }
	err := Run(t.Context(), o, []string{"--enable-webhooks=false", "--metrics-bind-address=0", "--health-probe-bind-address=0"}, env.Config)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "test-operator") {
		t.Errorf("error = %v, want one that names the operator and the reason", err)
	}
}

// seen records what a test operator observes.
type seen struct {
	mu      sync.Mutex
	leading bool
	objects []client.ObjectKey
}

func (s *seen) lead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leading = true
}

func (s *seen) leads(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.leading {
		return errors.New("it does not lead")
	}
	return nil
}

func (s *seen) add(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.objects, key) {
		s.objects = append(s.objects, key)
	}
}

func (s *seen) namesIn(namespace string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, key := range s.objects {
		if key.Namespace == namespace {
			names = append(names, key.Name)
		}
	}
	return names
}

func (s *seen) reconciled(namespace string) error {
	if len(s.namesIn(namespace)) == 0 {
		return fmt.Errorf("nothing in namespace %s was reconciled", namespace)
	}
	return nil
}

// watching returns an operator that records which ConfigMaps it has to reconcile.
func watching(s *seen) Options {
	return Options{
		Name:               "test-operator",
		LeaderElectionID:   "test.example.com",
		Scheme:             clientgoscheme.Scheme,
		SkipNameValidation: true,
		Setup: func(_ context.Context, mgr ctrl.Manager, _ startup.Config) error {
			lead := manager.RunnableFunc(func(context.Context) error {
				s.lead()
				return nil
			})
			if err := mgr.Add(lead); err != nil {
				return err
			}
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(
				func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
					s.add(request.NamespacedName)
					return reconcile.Result{}, nil
				},
			))
		},
	}
}

// running is an operator under test.
type running struct {
	probes string
	cancel context.CancelFunc
	ended  chan error
	once   sync.Once
}

// start runs an operator as if in a pod of the namespace, until it is stopped
// or the test ends.
func start(t *testing.T, namespace string, config *rest.Config, o Options, args ...string) *running {
	t.Helper()
	return startProgram(t, namespace, func(ctx context.Context, args []string) error { return Run(ctx, o, args, config) }, args...)
}

// startProgram does so with any program.
func startProgram(t *testing.T, namespace string, run func(context.Context, []string) error, args ...string) *running {
	t.Helper()
	t.Setenv("POD_NAMESPACE", namespace)
	r := &running{probes: fmt.Sprintf("localhost:%d", envtest.FreePort(t)), ended: make(chan error, 1)}
	args = append([]string{"--metrics-bind-address=0", "--health-probe-bind-address=" + r.probes}, args...)
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(context.Background())
	go func() { r.ended <- run(ctx, args) }()
	t.Cleanup(func() { r.stop(t) })
	return r
}

func (r *running) stop(t *testing.T) {
	t.Helper()
	r.once.Do(func() {
		r.cancel()
		if err := <-r.ended; err != nil {
			t.Errorf("the operator ended with: %v", err)
		}
	})
}

// passes returns a check that requests a probe.
func (r *running) passes(path string) func(ctx context.Context) error {
	return func(ctx context.Context) error { return expect.OK(ctx, "http://"+r.probes+path) }
}

// user is a user with only the permissions of every authenticated user.
type user struct {
	name   string
	config *rest.Config
}

func namedUser(name string) *user {
	config := rest.CopyConfig(env.Config)
	config.Impersonate.UserName = name
	return &user{name: name, config: config}
}

// allow grants the user the permissions that a test operator needs, in the
// namespace only.
func (u *user) allow(t *testing.T, namespace string) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "operator"}
	all := []string{"get", "list", "watch", "create", "update", "patch"}
	createAll(t,
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: all},
			{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: all},
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: all},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: u.name}},
		},
	)
}

// requests is a log of request paths.
type requests struct {
	mu    sync.Mutex
	paths []string
}

// record logs the paths of all requests made with the configuration.
func record(config *rest.Config) *requests {
	log := &requests{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport.Func(func(r *http.Request) (*http.Response, error) {
			log.mu.Lock()
			log.paths = append(log.paths, r.URL.Path)
			log.mu.Unlock()
			return next.RoundTrip(r)
		})
	})
	return log
}

func (l *requests) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(l.paths)))
}

func ownConfigMap(namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace,
		Name:      "own",
		Labels:    map[string]string{managedByLabel: "test-operator"},
	}}
}

func createAll(t *testing.T, objs ...client.Object) {
	t.Helper()
	objects.Create(t, env.Client(t, clientgoscheme.Scheme), objs...)
}
