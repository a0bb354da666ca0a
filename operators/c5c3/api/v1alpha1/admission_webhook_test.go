//go:build integration

package v1alpha1

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestTheWebhookCompletesTheSchema(t *testing.T) {
	server := startServer(t, filepath.Join(configDir, "webhook"))
	server.env.ServeWebhooks(t, testScheme(t), func(mgr ctrl.Manager) error {
		if err := NewCredentialRotationWebhook().SetupWebhookWithManager(mgr); err != nil {
			return err
		}
		return NewControlPlaneWebhook().SetupWebhookWithManager(mgr)
	})
	t.Run("refuses", server.testWebhookRefuses)
	t.Run("refuses on update", server.testWebhookRefusesUpdate)
	t.Run("accepts", server.testAccepts)
	t.Run("completes what a schema cannot", server.testWebhookDefaults)
	t.Run("keeps immutable fields", server.testImmutable)
	t.Run("lets a running update be taken back", server.testTakingBack)
	t.Run("refuses a second one in the namespace", server.testOnlyOne)
	t.Run("does not hold up a deletion", server.testDeletion)
	t.Run("refuses to delete what is protected", server.testDeletionProtection)
	t.Run("accepts the samples", server.testSamples)
	t.Run("accepts the one of the quick start", func(t *testing.T) { server.testFile(t, quickStart) })
}

func (s *apiServer) testWebhookRefuses(t *testing.T) {
	for _, v := range violations() {
		t.Run(v.name, func(t *testing.T) {
			err := s.Create(t.Context(), s.place(v.apply()))
			if v.schema == "" {
				expect.Invalid(t, err, v.path, v.message)
			} else if !apierrors.IsInvalid(err) {
				t.Errorf("want Invalid, got %v", err)
			}
		})
	}
}

func (s *apiServer) testWebhookRefusesUpdate(t *testing.T) {
	for _, v := range violations() {
		if strings.HasPrefix(v.path, "metadata.") {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			cp := minimal()
			s.create(t, cp)
			v.change(cp)
			if err := s.Update(t.Context(), cp); !apierrors.IsInvalid(err) {
				t.Errorf("want Invalid, got %v", err)
			}
		})
	}
}

func (s *apiServer) testWebhookDefaults(t *testing.T) {
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
	s.create(t, obj)
	got := &ControlPlane{}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(obj), got); err != nil {
		t.Fatal(err)
	}
	want := completed().Spec
	want.Infrastructure.Database.Replicas, want.Infrastructure.Database.StorageSize = new(int32(1)), "512Mi"
	want.Infrastructure.Cache.Replicas = 1
	want.KORC.AdminCredential.PasswordSecretRef.Name = "admin"
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func (s *apiServer) testOnlyOne(t *testing.T) {
	s.create(t, minimal())
	second := minimal()
	second.Name = "second"
	expect.Invalid(t, s.Create(t.Context(), s.place(second)), "metadata.namespace", `already has the ControlPlane "controlplane"`)
	second.Namespace = s.env.Namespace(t)
	if err := s.Create(t.Context(), second); err != nil {
		t.Errorf("one in another namespace is refused: %v", err)
	}
}

func (s *apiServer) testDeletion(t *testing.T) {
	cp := minimal()
	cp.Finalizers = []string{"c5c3.io/orc-teardown"}
	s.create(t, cp)
	if err := s.Delete(t.Context(), cp); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(cp), cp); err != nil {
		t.Fatal(err)
	}
	cp.Spec.Global = nil
	cp.Spec.Services.Keystone.PublicEndpoint = "https:///v3"
	cp.Finalizers = nil
	if err := s.Update(t.Context(), cp); err != nil {
		t.Fatalf("an object that is being deleted is held up: %v", err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(cp), cp); !apierrors.IsNotFound(err) {
		t.Errorf("want NotFound, got %v", err)
	}
}

func (s *apiServer) testDeletionProtection(t *testing.T) {
	cp := minimal()
	cp.Annotations = map[string]string{commonv1.AnnotationDeletionProtection: "true"}
	s.create(t, cp)
	if err := s.Delete(t.Context(), cp); !apierrors.IsForbidden(err) {
		t.Errorf("want Forbidden, got %v", err)
	}
	cp.Annotations = nil
	if err := s.Update(t.Context(), cp); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), cp); err != nil {
		t.Errorf("without the annotation: %v", err)
	}
}
