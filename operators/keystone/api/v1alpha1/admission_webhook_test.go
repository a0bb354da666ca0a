//go:build integration

package v1alpha1

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestTheWebhookCompletesTheSchema(t *testing.T) {
	server := startServer(t, filepath.Join(configDir, "webhook"))
	server.env.ServeWebhooks(t, testScheme(t), NewKeystoneWebhook(cluster.Settings{}).SetupWebhookWithManager)
	server.awaitWebhooks(t)
	t.Run("refuses", server.testWebhookRefuses)
	t.Run("refuses on update", server.testWebhookRefusesUpdate)
	t.Run("accepts", server.testAccepts)
	t.Run("fills in zeros", server.testWebhookDefaults)
	t.Run("fills in each default", server.testEachDefault)
	t.Run("keeps immutable fields", server.testImmutable)
	t.Run("keeps an explicit false and an explicit empty list", server.testExplicit)
	t.Run("asks for an existing PriorityClass", server.testPriorityClass)
	t.Run("does not hold up a deletion", server.testDeletion)
	t.Run("refuses to delete what is protected", server.testDeletionProtection)
	t.Run("warns of too few keys", server.testWarning)
	t.Run("accepts the samples", server.testSamples)
}

// awaitWebhooks waits until the API server knows that it has to ask the webhooks.
func (s *apiServer) awaitWebhooks(t *testing.T) {
	t.Helper()
	for _, v := range violations() {
		if v.schema != "" {
			continue
		}
		expect.Eventually(t, "the webhooks are asked", func(ctx context.Context) error {
			if err := s.Create(ctx, s.place(v.apply()), client.DryRunAll); !apierrors.IsInvalid(err) {
				return errors.Join(errors.New("the API server lets a Keystone pass with: "+v.name), err)
			}
			return nil
		})
		return
	}
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
			k := s.create(t, minimal())
			v.change(k)
			if err := s.Update(t.Context(), k); !apierrors.IsInvalid(err) {
				t.Errorf("want Invalid, got %v", err)
			}
		})
	}
}

func (s *apiServer) testWebhookDefaults(t *testing.T) {
	raw := map[string]any{}
	content, err := yaml.Marshal(minimal())
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, &raw); err != nil {
		t.Fatal(err)
	}
	k := &unstructured.Unstructured{Object: raw}
	k.SetGroupVersionKind(GroupVersion.WithKind("Keystone"))
	k.SetNamespace(s.namespace)
	for path, zero := range map[string]any{
		"replicas": int64(0), "cache.backend": "", "fernet.maxActiveKeys": int64(0), "credentialKeys.maxActiveKeys": int64(0),
		"bootstrap.adminUser": "", "bootstrap.region": "", "uwsgi.processes": int64(0), "uwsgi.threads": int64(0),
	} {
		if err := unstructured.SetNestedField(k.Object, zero, append([]string{"spec"}, strings.Split(path, ".")...)...); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Delete(context.WithoutCancel(t.Context()), k) })
	got := &Keystone{}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(k), got); err != nil {
		t.Fatal(err)
	}
	input := minimal()
	input.Spec.UWSGI = &UWSGISpec{}
	if diff := cmp.Diff(defaulted(input).Spec, got.Spec); diff != "" {
		t.Errorf("zeros are not replaced by defaults (-want +got):\n%s", diff)
	}
}

func (s *apiServer) testPriorityClass(t *testing.T) {
	missing := minimal()
	missing.Spec.PriorityClassName = new("missing")
	expect.Invalid(t, s.Create(t.Context(), s.place(missing)), "spec.priorityClassName", "Not found")

	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "keystone-high"}, Value: 1000}
	if err := s.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	present := minimal()
	present.Spec.PriorityClassName = new(class.Name)
	s.create(t, present)

	if err := s.Delete(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	present.Spec.Replicas = 5
	if err := s.Update(t.Context(), present); err != nil {
		t.Errorf("a class that was deleted later blocks a change of something else: %v", err)
	}
}

func (s *apiServer) testDeletion(t *testing.T) {
	k := minimal()
	k.Finalizers = []string{"keystone.openstack.c5c3.io/finalizer"}
	s.create(t, k)
	if err := s.Delete(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil {
		t.Fatal(err)
	}
	k.Spec.PriorityClassName = new("gone")
	k.Spec.Fernet.RotationSchedule = "no longer valid"
	k.Finalizers = nil
	if err := s.Update(t.Context(), k); err != nil {
		t.Fatalf("an object that is being deleted is held up: %v", err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(k), k); !apierrors.IsNotFound(err) {
		t.Errorf("want NotFound, got %v", err)
	}
}

func (s *apiServer) testDeletionProtection(t *testing.T) {
	k := minimal()
	k.Annotations = map[string]string{commonv1.AnnotationDeletionProtection: "true"}
	s.create(t, k)
	if err := s.Delete(t.Context(), k); !apierrors.IsForbidden(err) {
		t.Errorf("want Forbidden, got %v", err)
	}
	k.Annotations = nil
	if err := s.Update(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), k); err != nil {
		t.Errorf("without the annotation: %v", err)
	}
}

func (s *apiServer) testWarning(t *testing.T) {
	k := minimal()
	k.Spec.Fernet = FernetSpec{RotationSchedule: "0 * * * *", MaxActiveKeys: 3}
	s.warnings.texts = nil
	s.create(t, k)
	if len(s.warnings.texts) != 1 || !strings.Contains(s.warnings.texts[0], "set maxActiveKeys to at least 51") {
		t.Errorf("want one warning that asks for 51 keys, got %q", s.warnings.texts)
	}
}
