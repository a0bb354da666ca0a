//go:build integration

package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	. "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/webhook"
)

const samples = ConfigDir + "/samples/*.yaml"

// env is the API server of this package's tests.
var env *envtest.Env

func TestMain(m *testing.M) {
	apitest.Main(m, ConfigDir, func(e *envtest.Env) { env = e })
}

func TestTheSchemaAloneKeepsAKeystoneSafe(t *testing.T) {
	server := apitest.Start(t, env, apitest.Scheme(t, AddToScheme))
	Keystones().TheSchemaAlone(t, server)
	t.Run("of identity backends", func(t *testing.T) { IdentityBackends().TheSchemaAlone(t, server) })
	t.Run("keeps an explicit false and an explicit empty list", func(t *testing.T) { testExplicit(t, server) })
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
}

func TestTheWebhookCompletesTheSchema(t *testing.T) {
	server := apitest.Start(t, env, apitest.Scheme(t, AddToScheme))
	server.ServeWebhooks(t, ConfigDir, webhook.NewKeystoneWebhook(cluster.Settings{}).SetupWebhookWithManager,
		webhook.NewIdentityBackendWebhook().SetupWebhookWithManager)
	Keystones().TheWebhook(t, server)
	t.Run("of identity backends", func(t *testing.T) { IdentityBackends().TheWebhook(t, server) })
	t.Run("replaces zero values with defaults", func(t *testing.T) { testZeros(t, server) })
	t.Run("keeps an explicit false and an explicit empty list", func(t *testing.T) { testExplicit(t, server) })
	t.Run("asks for an existing PriorityClass", func(t *testing.T) { testPriorityClass(t, server) })
	t.Run("warns of too few keys", func(t *testing.T) { testWarning(t, server) })
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
}

// asWritten returns a Keystone as a user writes it, so that fields can be set to nothing.
func asWritten(t *testing.T, k *Keystone) *unstructured.Unstructured {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(k)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: fields}
	object.SetGroupVersionKind(GroupVersion.WithKind("Keystone"))
	return object
}

func testExplicit(t *testing.T, server *apitest.Server) {
	k := Minimal()
	k.Spec.UWSGI = &commonv1.UWSGISpec{HTTPKeepAlive: new(false)}
	written := asWritten(t, k)
	if err := unstructured.SetNestedSlice(written.Object, []any{}, "spec", "topologySpreadConstraints"); err != nil {
		t.Fatal(err)
	}
	server.Put(t, written)

	// What a controller does that adds a finalizer must not lose them either.
	stored := &Keystone{}
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(written), stored); err != nil {
		t.Fatal(err)
	}
	stored.Labels = map[string]string{"touched": "true"}
	if err := server.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if stored.Spec.UWSGI.HTTPKeepAlive == nil || *stored.Spec.UWSGI.HTTPKeepAlive {
		t.Error("httpKeepAlive: false became true")
	}
	if stored.Spec.TopologySpreadConstraints == nil {
		t.Error("topologySpreadConstraints: [] was lost")
	}
}

func testZeros(t *testing.T, server *apitest.Server) {
	written := asWritten(t, Minimal())
	for path, zero := range map[string]any{
		"replicas": int64(0), "cache.backend": "", "fernet.maxActiveKeys": int64(0), "credentialKeys.maxActiveKeys": int64(0),
		"bootstrap.adminUser": "", "bootstrap.region": "", "uwsgi.processes": int64(0), "uwsgi.threads": int64(0),
	} {
		if err := unstructured.SetNestedField(written.Object, zero, append([]string{"spec"}, strings.Split(path, ".")...)...); err != nil {
			t.Fatal(err)
		}
	}
	server.Put(t, written)
	got := &Keystone{}
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(written), got); err != nil {
		t.Fatal(err)
	}
	input := Minimal()
	input.Spec.UWSGI = &commonv1.UWSGISpec{}
	if diff := cmp.Diff(Defaulted(input).Spec, got.Spec); diff != "" {
		t.Errorf("zeros are not replaced by defaults (-want +got):\n%s", diff)
	}
}

func testPriorityClass(t *testing.T, server *apitest.Server) {
	missing := Minimal()
	missing.Namespace = server.Namespace
	missing.Spec.PriorityClassName = new("missing")
	expect.Invalid(t, server.Create(t.Context(), missing), "spec.priorityClassName", "Not found")

	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "keystone-high"}, Value: 1000}
	if err := server.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	present := Minimal()
	present.Spec.PriorityClassName = new(class.Name)
	server.Put(t, present)

	if err := server.Delete(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	present.Spec.Replicas = 5
	if err := server.Update(t.Context(), present); err != nil {
		t.Errorf("a class that was deleted later blocks a change of something else: %v", err)
	}
}

func testWarning(t *testing.T, server *apitest.Server) {
	k := Minimal()
	k.Spec.Fernet = FernetSpec{RotationSchedule: "0 * * * *", MaxActiveKeys: 3}
	server.Warnings = nil
	server.Put(t, k)
	if len(server.Warnings) != 1 || !strings.Contains(server.Warnings[0], "set maxActiveKeys to at least 51") {
		t.Errorf("want one warning that asks for 51 keys, got %q", server.Warnings)
	}
}
