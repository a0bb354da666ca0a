package apitest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/outside"
)

// Server is an API server with the kinds of an API package.
type Server struct {
	client.Client
	// Env is the API server itself.
	Env *envtest.Env
	// Namespace is the namespace of the test's objects.
	Namespace string
	// Warnings are the warnings received so far.
	Warnings []string

	scheme *runtime.Scheme
}

// HandleWarningHeaderWithContext records a warning.
func (s *Server) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	s.Warnings = append(s.Warnings, text)
}

// Scheme returns a scheme with the built-in kinds and those of the API package.
func Scheme(t testing.TB, addToScheme func(*runtime.Scheme) error) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{addToScheme, clientgoscheme.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Main runs the tests of an API package with an API server that has the definitions in
// the folder config, and exits the process. It passes the server to ready before the first
// test.
func Main(m *testing.M, config string, ready func(*envtest.Env)) {
	options := envtest.Options{CRDs: []string{filepath.Join(config, "crd", "bases")}}
	envtest.Main(m, options, func(_ context.Context, env *envtest.Env) error {
		ready(env)
		return nil
	})
}

// Start returns the API server with a namespace of the test's own.
func Start(t *testing.T, env *envtest.Env, scheme *runtime.Scheme) *Server {
	t.Helper()
	s := &Server{Env: env, scheme: scheme}
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	caller := rest.CopyConfig(env.Config)
	caller.WarningHandlerWithContext = s
	c, err := client.New(caller, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	s.Client, s.Namespace = c, env.Namespace(t)
	return s
}

// ServeWebhooks has the API server call the webhooks as the configurations in the folder
// config say, until the test ends.
func (s *Server) ServeWebhooks(t *testing.T, config string, webhooks ...func(ctrl.Manager) error) {
	t.Helper()
	s.Env.ServeWebhooks(t, []string{filepath.Join(config, "webhook")}, s.scheme, func(mgr ctrl.Manager) error {
		for _, setup := range webhooks {
			if err := setup(mgr); err != nil {
				return err
			}
		}
		return nil
	})
}

// Accept checks that the server would store a new object. The object gets the defaults.
func (s *Server) Accept(t *testing.T, object client.Object) {
	t.Helper()
	object.SetNamespace(s.Namespace)
	if err := s.Create(t.Context(), object, client.DryRunAll); err != nil {
		t.Fatalf("refused: %v", err)
	}
}

// Put creates an object in the server's namespace and deletes it when the test
// ends.
func (s *Server) Put(t *testing.T, object client.Object) {
	t.Helper()
	object.SetNamespace(s.Namespace)
	if err := s.Create(t.Context(), object); err != nil {
		t.Fatalf("refused: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Delete(context.WithoutCancel(t.Context()), object); client.IgnoreNotFound(err) != nil {
			t.Errorf("delete: %v", err)
		}
	})
}

// Samples checks that the files matching the pattern, of any kind, are accepted
// unchanged and without a warning.
func (s *Server) Samples(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(outside.File(pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { s.sample(t, file) })
	}
}

func (s *Server) sample(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, object); err != nil {
		t.Fatal(err)
	}
	object.SetNamespace(s.Namespace)
	s.Warnings = nil
	if err := client.WithFieldValidation(s.Client, metav1.FieldValidationStrict).Create(t.Context(), object); err != nil {
		t.Fatalf("refused: %v", err)
	}
	if len(s.Warnings) > 0 {
		t.Errorf("warnings: %q", s.Warnings)
	}
	if err := s.Delete(t.Context(), object); err != nil {
		t.Error(err)
	}
}
