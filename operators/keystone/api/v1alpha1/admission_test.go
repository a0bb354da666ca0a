//go:build integration

package v1alpha1

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// apiServer is an API server that knows Keystones.
type apiServer struct {
	client.Client
	env       *envtest.Env
	namespace string
	warnings  *recordedWarnings
}

type recordedWarnings struct{ texts []string }

func (w *recordedWarnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.texts = append(w.texts, text)
}

func startServer(t *testing.T, webhooks ...string) *apiServer {
	t.Helper()
	env := envtest.Start(t, envtest.Options{CRDs: []string{filepath.Join(configDir, "crd", "bases")}, Webhooks: webhooks})
	seen := &recordedWarnings{}
	config := rest.CopyConfig(env.Config)
	config.WarningHandlerWithContext = seen
	c, err := client.New(config, client.Options{Scheme: testScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	return &apiServer{Client: c, env: env, namespace: env.Namespace(t), warnings: seen}
}

// place makes room for the object: each lives in the server's namespace, one
// at a time.
func (s *apiServer) place(k *Keystone) *Keystone {
	k.Namespace = s.namespace
	return k
}

func (s *apiServer) create(t *testing.T, k *Keystone) *Keystone {
	t.Helper()
	if err := s.Create(t.Context(), s.place(k)); err != nil {
		t.Fatalf("refused: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Delete(context.WithoutCancel(t.Context()), k); client.IgnoreNotFound(err) != nil {
			t.Errorf("delete: %v", err)
		}
	})
	return k
}

func TestTheSchemaAloneKeepsAKeystoneSafe(t *testing.T) {
	server := startServer(t)
	t.Run("refuses", server.testSchemaRefuses)
	t.Run("refuses what is out of bounds", server.testSchemaBounds)
	t.Run("accepts", server.testAccepts)
	t.Run("fills in defaults", server.testSchemaDefaults)
	t.Run("fills in each default", server.testEachDefault)
	t.Run("does not hold up a deletion", server.testDeletion)
	t.Run("keeps immutable fields", server.testImmutable)
	t.Run("keeps an explicit false and an explicit empty list", server.testExplicit)
	t.Run("is listed with openstack and has no short name", server.testCategory)
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
			if strings.HasPrefix(v.path, "metadata.") {
				return
			}
			stored := s.create(t, minimal())
			v.change(stored)
			expect.Invalid(t, s.Update(t.Context(), stored), path, v.schema)
		})
	}
}

// testSchemaBounds breaks what a Go client cannot even write, too.
func (s *apiServer) testSchemaBounds(t *testing.T) {
	stored := map[bool]*Keystone{}
	for _, managed := range []bool{false, true} {
		k := complete()
		if managed {
			k = completeManaged()
		}
		k.Name = fmt.Sprint("stored-", managed)
		for i := range k.Spec.TopologySpreadConstraints {
			k.Spec.TopologySpreadConstraints[i].LabelSelector.MatchLabels = SelectorLabels(k.Name)
		}
		stored[managed] = s.create(t, k)
	}
	for _, b := range bounds(t) {
		t.Run(b.String(), func(t *testing.T) {
			path := strings.TrimSuffix(b.path, "[*]")
			raw := &unstructured.Unstructured{Object: b.brokenObject(t)}
			raw.SetNamespace(s.namespace)
			expect.Invalid(t, s.Create(t.Context(), raw, client.DryRunAll), path, b.message)

			_, managed, _ := unstructured.NestedMap(raw.Object, "spec", "database", "clusterRef")
			raw.SetName(stored[managed].Name)
			raw.SetResourceVersion(stored[managed].ResourceVersion)
			expect.Invalid(t, s.Update(t.Context(), raw, client.DryRunAll), path, b.message)
		})
	}
}

func (s *apiServer) testAccepts(t *testing.T) {
	t.Run("a minimal brownfield Keystone", func(t *testing.T) { s.create(t, minimal()) })
	t.Run("a minimal managed Keystone", func(t *testing.T) { s.create(t, minimalManaged()) })
	for name, change := range accepted() {
		t.Run(name, func(t *testing.T) {
			k := minimal()
			change(k)
			s.create(t, k)
		})
	}
}

// testSchemaDefaults compares with the defaults in Go: they must not differ,
// whichever of the two an object meets.
func (s *apiServer) testSchemaDefaults(t *testing.T) {
	k := minimal()
	k.Spec.UWSGI = &UWSGISpec{}
	k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{}
	k.Spec.Database.TLS = &commonv1.DatabaseTLSSpec{}
	want := defaulted(k).Spec
	// The one default that only the webhook and the operator fill in.
	want.Resources = nil
	if diff := cmp.Diff(want, s.create(t, k).Spec); diff != "" {
		t.Errorf("the schema's defaults differ from SetDefaults (-Go +schema):\n%s", diff)
	}
}

// testEachDefault leaves a field out of a new Keystone, and then out of a
// replacement of the stored one.
func (s *apiServer) testEachDefault(t *testing.T) {
	for _, row := range defaultRows() {
		t.Run(row.path, func(t *testing.T) {
			k := &unstructured.Unstructured{Object: row.written(t)}
			k.SetNamespace(s.namespace)
			if err := s.Create(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Delete(context.WithoutCancel(t.Context()), k) })
			if got, _ := valueAt(k.Object, row.path); got != row.want {
				t.Errorf("created: got %v, want %v", got, row.want)
			}
			again := &unstructured.Unstructured{Object: row.written(t)}
			again.SetNamespace(s.namespace)
			again.SetResourceVersion(k.GetResourceVersion())
			if err := s.Update(t.Context(), again); err != nil {
				t.Fatal(err)
			}
			if got, _ := valueAt(again.Object, row.path); got != row.want {
				t.Errorf("replaced: got %v, want %v", got, row.want)
			}
		})
	}
}

func (s *apiServer) testImmutable(t *testing.T) {
	for name, change := range immutableChanges() {
		t.Run(name, func(t *testing.T) {
			k := s.create(t, minimal())
			change.change(k)
			expect.Invalid(t, s.Update(t.Context(), k), change.path, change.message)
		})
	}
}

func (s *apiServer) testExplicit(t *testing.T) {
	k := minimal()
	k.Spec.UWSGI = &UWSGISpec{HTTPKeepAlive: new(false)}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.place(k))
	if err != nil {
		t.Fatal(err)
	}
	raw := &unstructured.Unstructured{Object: object}
	raw.SetGroupVersionKind(GroupVersion.WithKind("Keystone"))
	if err := unstructured.SetNestedSlice(raw.Object, []any{}, "spec", "topologySpreadConstraints"); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Delete(context.WithoutCancel(t.Context()), raw) })

	// What a controller does that adds a finalizer must not lose them either.
	stored := &Keystone{}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(raw), stored); err != nil {
		t.Fatal(err)
	}
	stored.Labels = map[string]string{"touched": "true"}
	if err := s.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if stored.Spec.UWSGI.HTTPKeepAlive == nil || *stored.Spec.UWSGI.HTTPKeepAlive {
		t.Error("httpKeepAlive: false became true")
	}
	if stored.Spec.TopologySpreadConstraints == nil {
		t.Error("topologySpreadConstraints: [] was lost")
	}
}

func (s *apiServer) testCategory(t *testing.T) {
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	if err := s.Get(t.Context(), client.ObjectKey{Name: "keystones.keystone.openstack.c5c3.io"}, crd); err != nil {
		t.Fatal(err)
	}
	categories, _, _ := unstructured.NestedStringSlice(crd.Object, "spec", "names", "categories")
	shortNames, _, _ := unstructured.NestedStringSlice(crd.Object, "spec", "names", "shortNames")
	if diff := cmp.Diff([]string{"openstack"}, categories); diff != "" || len(shortNames) != 0 {
		t.Errorf("categories %v, short names %v", categories, shortNames)
	}
}

func (s *apiServer) testSamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(configDir, "samples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			k := &Keystone{}
			if err := yaml.UnmarshalStrict(content, k); err != nil {
				t.Fatal(err)
			}
			s.warnings.texts = nil
			s.create(t, k)
			if len(s.warnings.texts) > 0 {
				t.Errorf("warnings: %q", s.warnings.texts)
			}
		})
	}
}
