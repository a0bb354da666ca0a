//go:build integration

package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	. "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/webhook"
)

const samples = ConfigDir + "/samples/*.yaml"

// quickStart is the ControlPlane that "make quickstart" brings up.
const quickStart = "../../../../deploy/controlplane/controlplane.yaml"

// env is the API server of this package's tests.
var env *envtest.Env

func TestMain(m *testing.M) {
	apitest.Main(m, ConfigDir, func(e *envtest.Env) { env = e })
}

func TestTheSchemaAloneKeepsAControlPlaneSafe(t *testing.T) {
	server := apitest.Start(t, env, apitest.Scheme(t, AddToScheme))
	Kinds().Each(t, func(kind apitest.Subject, t *testing.T) { kind.TheSchemaAlone(t, server) })
	t.Run("completes the cache beside an external database", func(t *testing.T) { testBrownfield(t, server) })
	t.Run("allows a running update to be rolled back", func(t *testing.T) { testTakingBack(t, server) })
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
}

func TestTheWebhookCompletesTheSchema(t *testing.T) {
	server := apitest.Start(t, env, apitest.Scheme(t, AddToScheme))
	server.ServeWebhooks(t, ConfigDir,
		webhook.NewControlPlaneWebhook().SetupWebhookWithManager, webhook.NewCredentialRotationWebhook().SetupWebhookWithManager)
	ControlPlanes().TheWebhook(t, server)
	t.Run("applies defaults that the schema cannot express", func(t *testing.T) { testWebhookDefaults(t, server) })
	t.Run("allows a running update to be rolled back", func(t *testing.T) { testTakingBack(t, server) })
	t.Run("refuses a second ControlPlane in the namespace", func(t *testing.T) { testOnlyOne(t, server) })
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
	t.Run("accepts the quick start sample", func(t *testing.T) { server.Samples(t, quickStart) })
}

func testBrownfield(t *testing.T, server *apitest.Server) {
	cp := Minimal()
	cp.Spec.Infrastructure.Database.DatabaseSpec = ExternalDatabase()
	server.Put(t, cp)
	if cp.Spec.Infrastructure.Database.IsManaged() {
		t.Error("an external database became a managed one")
	}
	if !cp.Spec.Infrastructure.Cache.IsManaged() {
		t.Error("the cache has no default beside an external database")
	}
}

func testTakingBack(t *testing.T, server *apitest.Server) {
	cp := Minimal()
	cp.Spec.OpenStackRelease = "2062.1"
	server.Put(t, cp)
	report := func(services ...ServiceStatus) {
		cp.Status.UpdatePhase, cp.Status.Services = UpdatePhaseUpdating, services
		if err := server.Status().Update(t.Context(), cp); err != nil {
			t.Fatal(err)
		}
	}
	correct := func(release string) {
		cp.Spec.OpenStackRelease = release
		if err := server.Update(t.Context(), cp); err != nil {
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
	expect.Invalid(t, server.Update(t.Context(), cp), "spec.openStackRelease", "openStackRelease must not go back")
}

func testWebhookDefaults(t *testing.T, server *apitest.Server) {
	spec := map[string]any{
		"openStackRelease": "2025.2", "region": "",
		"infrastructure": map[string]any{
			"database": map[string]any{"replicas": int64(1), "storageSize": "512Mi"},
			"cache":    map[string]any{"replicas": int64(1)},
		},
		"services": map[string]any{"keystone": map[string]any{}},
		"korc": map[string]any{"adminCredential": map[string]any{
			"passwordSecretRef": map[string]any{"name": "admin"}, "cloudCredentialsRef": map[string]any{"cloudName": "", "secretName": ""},
		}},
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(GroupVersion.WithKind("ControlPlane"))
	obj.SetName("controlplane")
	server.Put(t, obj)
	got := &ControlPlane{}
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(obj), got); err != nil {
		t.Fatal(err)
	}
	want := Completed().Spec
	want.Infrastructure.Database.Replicas, want.Infrastructure.Database.StorageSize = new(int32(1)), "512Mi"
	want.Infrastructure.Cache.Replicas = 1
	want.KORC.AdminCredential.PasswordSecretRef.Name = "admin"
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func testOnlyOne(t *testing.T, server *apitest.Server) {
	server.Put(t, Minimal())
	second := Minimal()
	second.Name, second.Namespace = "second", server.Namespace
	expect.Invalid(t, server.Create(t.Context(), second), "metadata.namespace", `already has the ControlPlane "controlplane"`)
	second.Namespace = server.Env.Namespace(t)
	if err := server.Create(t.Context(), second); err != nil {
		t.Errorf("one in another namespace is refused: %v", err)
	}
}
