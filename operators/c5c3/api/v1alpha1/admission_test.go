//go:build integration

package v1alpha1

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/outside"
)

const configDir = "../../config"

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{AddToScheme, scheme.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// apiServer is an API server that knows the c5c3 kinds.
type apiServer struct {
	client.Client
	env       *envtest.Env
	namespace string
}

func startServer(t *testing.T, webhooks ...string) *apiServer {
	t.Helper()
	env := envtest.Start(t, envtest.Options{CRDs: []string{filepath.Join(configDir, "crd", "bases")}, Webhooks: webhooks})
	return &apiServer{Client: env.Client(t, testScheme(t)), env: env, namespace: env.Namespace(t)}
}

// place puts the object into the server's namespace, where each test has its
// objects for itself.
func (s *apiServer) place(cp *ControlPlane) *ControlPlane {
	cp.Namespace = s.namespace
	return cp
}

func (s *apiServer) create(t *testing.T, obj client.Object) {
	t.Helper()
	obj.SetNamespace(s.namespace)
	if err := s.Create(t.Context(), obj); err != nil {
		t.Fatalf("refused: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Delete(context.WithoutCancel(t.Context()), obj); client.IgnoreNotFound(err) != nil {
			t.Errorf("delete: %v", err)
		}
	})
}

func TestTheSchemaAloneKeepsAControlPlaneSafe(t *testing.T) {
	server := startServer(t)
	t.Run("refuses", server.testSchemaRefuses)
	t.Run("accepts", server.testAccepts)
	t.Run("completes a minimal one as the operator does", server.testSchemaDefaults)
	t.Run("completes the cache beside an external database", server.testBrownfield)
	t.Run("keeps immutable fields", server.testImmutable)
	t.Run("lets a running update be taken back", server.testTakingBack)
	t.Run("leaves an empty policy to the webhook", server.testLeftToWebhook)
	t.Run("refuses a rotation", server.testRefusesRotation)
	t.Run("refuses an aggregate", server.testRefusesAggregate)
	t.Run("accepts an aggregate of everything", func(t *testing.T) {
		server.create(t, &SecretAggregate{ObjectMeta: metav1.ObjectMeta{Name: "all"}})
	})
	t.Run("lists all kinds with openstack and shows the documented columns", server.testNames)
	t.Run("accepts the samples", server.testSamples)
}

func (s *apiServer) testSchemaRefuses(t *testing.T) {
	for _, v := range violations() {
		if v.schema == "" {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			path := v.path
			if v.schemaPath != "" {
				path = v.schemaPath
			}
			expect.Invalid(t, s.Create(t.Context(), s.place(v.apply())), path, v.schema)
		})
	}
}

func (s *apiServer) testAccepts(t *testing.T) {
	t.Run("a minimal one", func(t *testing.T) { s.create(t, minimal()) })
	for name, change := range accepted() {
		t.Run(name, func(t *testing.T) {
			cp := completed()
			change(cp)
			s.create(t, cp)
		})
	}
}

// testSchemaDefaults compares with the defaults in Go: they must not differ,
// whichever of the two an object meets.
func (s *apiServer) testSchemaDefaults(t *testing.T) {
	cp := minimal()
	want := defaulted(cp).Spec
	s.create(t, cp)
	if diff := cmp.Diff(want, cp.Spec); diff != "" {
		t.Errorf("the schema's defaults differ from SetDefaults (-Go +schema):\n%s", diff)
	}
}

func (s *apiServer) testBrownfield(t *testing.T) {
	cp := minimal()
	cp.Spec.Infrastructure.Database.DatabaseSpec = externalDatabase()
	s.create(t, cp)
	if cp.Spec.Infrastructure.Database.IsManaged() {
		t.Error("an external database became a managed one")
	}
	if !cp.Spec.Infrastructure.Cache.IsManaged() {
		t.Error("the cache has no default beside an external database")
	}
}

func (s *apiServer) testImmutable(t *testing.T) {
	for name, change := range immutableChanges() {
		t.Run(name, func(t *testing.T) {
			cp := minimal()
			s.create(t, cp)
			change.change(cp)
			expect.Invalid(t, s.Update(t.Context(), cp), change.path, change.message)
		})
	}
	for name, change := range mutableChanges() {
		t.Run("but not "+name, func(t *testing.T) {
			cp := minimal()
			s.create(t, cp)
			change(cp)
			if err := s.Update(t.Context(), cp); err != nil {
				t.Errorf("refused: %v", err)
			}
		})
	}
}

func (s *apiServer) testTakingBack(t *testing.T) {
	cp := minimal()
	cp.Spec.OpenStackRelease = "2062.1"
	s.create(t, cp)
	report := func(services ...ServiceStatus) {
		cp.Status.UpdatePhase, cp.Status.Services = UpdatePhaseUpdating, services
		if err := s.Status().Update(t.Context(), cp); err != nil {
			t.Fatal(err)
		}
	}
	correct := func(release string) {
		cp.Spec.OpenStackRelease = release
		if err := s.Update(t.Context(), cp); err != nil {
			t.Fatalf("the way back to %s is closed: %v", release, err)
		}
	}
	report()
	correct("2061.2")
	report(ServiceStatus{Name: "keystone"})
	correct("2061.1")
	report(ServiceStatus{Name: "keystone", Release: "2025.2"})
	correct("2026.1")
	correct("2025.2")
	cp.Spec.OpenStackRelease = "2025.1"
	expect.Invalid(t, s.Update(t.Context(), cp), "spec.openStackRelease", "openStackRelease must not go back")
}

// testLeftToWebhook guards against a rule on a Keystone's field moving to a
// type that both kinds share.
func (s *apiServer) testLeftToWebhook(t *testing.T) {
	for _, v := range violations() {
		if v.schema == "" {
			t.Run(v.name, func(t *testing.T) { s.create(t, v.apply()) })
		}
	}
}

func (s *apiServer) testRefusesRotation(t *testing.T) {
	for name, v := range rotationViolations() {
		t.Run(name, func(t *testing.T) {
			rotation := &CredentialRotation{ObjectMeta: metav1.ObjectMeta{Name: "rotate", Namespace: s.namespace}, Spec: v.spec}
			expect.Invalid(t, s.Create(t.Context(), rotation), v.path, v.schema)
		})
	}
}

func (s *apiServer) testRefusesAggregate(t *testing.T) {
	for name, v := range aggregateViolations() {
		t.Run(name, func(t *testing.T) {
			aggregate := &SecretAggregate{ObjectMeta: metav1.ObjectMeta{Name: "all", Namespace: s.namespace}, Spec: v.spec}
			expect.Invalid(t, s.Create(t.Context(), aggregate), v.path, v.schema)
		})
	}
}

func (s *apiServer) testSamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(configDir, "samples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { s.testFile(t, file) })
	}
}

// quickStart is the ControlPlane that "make quickstart" brings up.
const quickStart = "../../../../deploy/controlplane/controlplane.yaml"

func (s *apiServer) testFile(t *testing.T, file string) {
	content, err := os.ReadFile(outside.File(file))
	if err != nil {
		t.Fatal(err)
	}
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, obj); err != nil {
		t.Fatal(err)
	}
	obj.SetNamespace(s.namespace)
	strict := client.WithFieldValidation(s.Client, metav1.FieldValidationStrict)
	if err := strict.Create(t.Context(), obj); err != nil {
		t.Fatalf("refused: %v", err)
	}
	if err := s.Delete(t.Context(), obj); err != nil {
		t.Error(err)
	}
}
