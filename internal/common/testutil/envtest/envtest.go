// Package envtest starts a real kube-apiserver and etcd for the tests of one
// package, from the binaries that the repository's Makefile builds.
package envtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/outside"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

// delayVariable is the maximum random delay for clients of the API server,
// to find tests that rely on a fast machine.
const delayVariable = "ENVTEST_DELAY"

// startTimeout bounds the start of etcd, of kube-apiserver and of what that has
// to serve, each. It is long because test packages start in parallel on small
// machines.
const startTimeout = 3 * time.Minute

// serviceRange has room for the Services of all tests of a package: namespaces
// are never emptied, and the 254 addresses that controller-runtime sets run out.
const serviceRange = "10.0.0.0/16"

// streams is how many requests and watches a connection may have. The operators, stand-ins and
// clients of a test package share one, and have more than the 100 that are the default.
const streams = "1000"

// groupsOfNobody are groups that neither the operators nor the tests use. Each costs CPU
// time at the start of an API server.
var groupsOfNobody = []string{
	"certificates.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1", "node.k8s.io/v1", "resource.k8s.io/v1",
}

// admissionOfNobody are the admission plugins that the API server runs without: those that
// controller-runtime disables, and one that waits for a group of groupsOfNobody, because of
// which the server never gets ready and asks itself about that all the time.
var admissionOfNobody = []string{"ServiceAccount", "RuntimeClass"}

// readFromEtcd are resources that the API server lists itself to admit a request. They
// change so rarely that its watch cache, before it answers, waits up to 100 ms for etcd to
// confirm that it is current.
var readFromEtcd = []string{
	"limitranges", "clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
	"roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
}

// Options says what the API server serves in addition to the built-in kinds.
type Options struct {
	// CRDs are files or directories with CustomResourceDefinitions.
	CRDs []string
	// ThirdParty are the projects whose kinds are installed from the start.
	ThirdParty []thirdparty.Project
	// GarbageCollector runs the garbage collector of a real
	// kube-controller-manager. It is the only controller there: everything
	// else that acts on built-in kinds is a stand-in of the test. Kinds that
	// are installed later are noticed at its next discovery, every 30 s.
	GarbageCollector bool
	// Complete serves the groups that no test needs too, with fair queueing, as a
	// production API server does.
	Complete bool
	// Users log in with tokens of their own and appear in the audit log. All others are
	// impersonated by the administrator, which is the user that an audit policy sees.
	Users []string
	// Flags are set for kube-apiserver in addition to those that every test needs, or
	// instead of them, by name without dashes.
	Flags map[string]string
	// Vocabularies are the reasons that the tests of the package must produce. Main
	// checks this unless only some of the tests were run.
	Vocabularies []expect.Vocabulary
	// Sampled is true if a short run of the package leaves out tests. It then need not
	// produce all reasons.
	Sampled bool
	// Long is true if a short run leaves out all tests of the package, as package short
	// leaves out one.
	Long bool
}

// Env is a running API server.
type Env struct {
	// Config has all permissions on the API server and no client-side rate limit.
	Config *rest.Config

	environment *crenvtest.Environment
	tokens      map[string]string
	namespaces  atomic.Int32
	// mapper and admin spare each test a discovery of the API server's kinds.
	mapper meta.RESTMapper
	admin  client.Client
}

// KubeConfig writes a kubeconfig file of a user with all permissions and returns its path.
func (e *Env) KubeConfig(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, e.environment.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Open runs an API server until stop is called, for a program that is not a test.
func Open(o Options) (env *Env, stop func() error, err error) { return start(o) }

// Start runs an API server until the test ends.
func Start(t testing.TB, o Options) *Env {
	t.Helper()
	env, stop, err := start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stop the test API server: %v", err)
		}
	})
	return env
}

// Main runs the tests of a package against one API server, which is passed to
// ready before the first test, and exits the process. It is the whole body of
// a TestMain. The context ends after the last test.
func Main(m *testing.M, o Options, ready func(context.Context, *Env) error) {
	os.Exit(run(m, o, ready))
}

func run(m *testing.M, o Options, ready func(context.Context, *Env) error) (code int) {
	// Without this, controller-runtime complains after 30 seconds.
	log.SetLogger(logr.Discard())
	if flag.Parse(); o.Long && testing.Short() {
		// The output is "no tests to run".
		if err := flag.Set("test.skip", "."); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}
	env, stop, err := start(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := stop(); err != nil {
			fmt.Fprintf(os.Stderr, "stop the test API server: %v\n", err)
			code = 1
		}
	}()
	// An API server that is asked to stop waits up to a minute for open watches.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := ready(ctx, env); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if code := m.Run(); code != 0 || selected() || o.Sampled && testing.Short() {
		return code
	}
	for _, vocabulary := range o.Vocabularies {
		for _, gap := range vocabulary.Gaps() {
			fmt.Fprintln(os.Stderr, gap)
			code = 1
		}
	}
	return code
}

// selected reports whether a flag of go test excludes tests.
func selected() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return true
		}
	}
	return false
}

func start(o Options) (*Env, func() error, error) {
	etcd, errEtcd := binary("etcd")
	apiserver, errServer := binary("kube-apiserver")
	if err := errors.Join(errEtcd, errServer); err != nil {
		return nil, nil, err
	}
	for _, path := range o.CRDs {
		outside.File(path)
	}
	crds, err := thirdparty.CRDs(o.ThirdParty...)
	if err != nil {
		return nil, nil, err
	}
	e := &crenvtest.Environment{
		CRDDirectoryPaths:        o.CRDs,
		ErrorIfCRDPathMissing:    true,
		CRDs:                     crds,
		CRDInstallOptions:        crenvtest.CRDInstallOptions{MaxTime: startTimeout},
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  startTimeout,
	}
	e.ControlPlane.Etcd = &crenvtest.Etcd{Path: etcd}
	e.ControlPlane.GetAPIServer().Path = apiserver
	arguments := e.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", serviceRange).
		Set("http2-max-streams-per-connection", streams)
	if !o.Complete {
		// The tests of a package are the only clients and need no fair share.
		arguments.Set("enable-priority-and-fairness", "false").
			Set("runtime-config", strings.Join(groupsOfNobody, "=false,")+"=false").
			Set("disable-admission-plugins", admissionOfNobody...).
			Set("watch-cache-sizes", strings.Join(readFromEtcd, "#0,")+"#0")
	}
	for name, value := range o.Flags {
		arguments.Set(name, value)
	}
	tokenFile, tokens, err := writeTokens(o.Users)
	if err != nil {
		return nil, nil, err
	}
	defer os.Remove(tokenFile)
	arguments.Set("token-auth-file", tokenFile)
	cfg, err := e.Start()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start the test API server: %w", err), e.Stop())
	}
	cfg.QPS, cfg.DisableCompression = -1, true
	cfg.BearerToken, cfg.CertData, cfg.KeyData = tokens[administrator], nil, nil
	env, stop := &Env{Config: cfg, environment: e, tokens: tokens}, e.Stop
	if err := errors.Join(delay(cfg), env.discover()); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	if !o.GarbageCollector {
		return env, stop, nil
	}
	stopCollector, err := startCollector(e.KubeConfig)
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return env, func() error { return errors.Join(stopCollector(), stop()) }, nil
}

// discover creates what the clients of the tests share.
func (e *Env) discover() error {
	http, err := rest.HTTPClientFor(e.Config)
	if err != nil {
		return err
	}
	if e.mapper, err = apiutil.NewDynamicRESTMapper(e.Config, http); err != nil {
		return err
	}
	e.admin, err = e.NewClient(nil)
	return err
}

// delay delays a client as the environment variable requests.
func delay(cfg *rest.Config) error {
	asked := os.Getenv(delayVariable)
	if asked == "" {
		return nil
	}
	longest, err := time.ParseDuration(asked)
	if err != nil || longest <= 0 {
		return fmt.Errorf("%s=%s: set a duration above 0, such as 500ms", delayVariable, asked)
	}
	transport.Delay(cfg, longest)
	return nil
}

// NewClient returns an uncached client with all rights. Without a scheme, it knows the
// built-in kinds.
func (e *Env) NewClient(scheme *runtime.Scheme) (client.Client, error) {
	return client.New(e.Config, client.Options{Scheme: scheme, Mapper: e.mapper})
}

// Client is [Env.NewClient] for a test.
func (e *Env) Client(t testing.TB, scheme *runtime.Scheme) client.Client {
	t.Helper()
	c, err := e.NewClient(scheme)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Namespace creates a new namespace for the test and returns its name.
// It is not deleted: nothing in a test API server would empty it.
func (e *Env) Namespace(t testing.TB) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("test-%d", e.namespaces.Add(1))}}
	if err := e.admin.Create(context.WithoutCancel(t.Context()), ns); err != nil {
		t.Fatalf("create a namespace: %v", err)
	}
	return ns.Name
}
