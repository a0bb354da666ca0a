//go:build integration

package v1alpha1

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const configDir = "../../config"

func minimal() *ControlPlane {
	return &ControlPlane{
		ObjectMeta: metav1.ObjectMeta{Name: "controlplane"},
		Spec:       ControlPlaneSpec{OpenStackRelease: "2025.2", Services: ServicesSpec{Keystone: &ServiceKeystoneSpec{}}},
	}
}

// apiServer is an API server that knows the c5c3 kinds and has no webhook.
type apiServer struct {
	client.Client
	namespace string
}

func startServer(t *testing.T) *apiServer {
	t.Helper()
	s := runtime.NewScheme()
	if err := AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	env := envtest.Start(t, envtest.Options{CRDs: []string{filepath.Join(configDir, "crd", "bases")}})
	return &apiServer{Client: env.Client(t, s), namespace: env.Namespace(t)}
}

func (s *apiServer) create(t *testing.T, obj client.Object) {
	t.Helper()
	obj.SetNamespace(s.namespace)
	if err := s.Create(t.Context(), obj); err != nil {
		t.Fatalf("refused: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Delete(context.WithoutCancel(t.Context()), obj); err != nil {
			t.Errorf("delete: %v", err)
		}
	})
}

func TestTheSchemaAloneKeepsAControlPlaneSafe(t *testing.T) {
	server := startServer(t)
	t.Run("completes a minimal one", server.testDefaults)
	t.Run("completes an external database's", server.testBrownfield)
	t.Run("refuses", server.testRefuses)
	t.Run("refuses a rotation", server.testRefusesRotation)
	t.Run("leaves Keystone's own rules to the webhook", server.testLeftToWebhook)
	t.Run("accepts a SecretAggregate", func(t *testing.T) {
		server.create(t, &SecretAggregate{ObjectMeta: metav1.ObjectMeta{Name: "all"}})
	})
	t.Run("accepts the samples", server.testSamples)
}

func (s *apiServer) testDefaults(t *testing.T) {
	got := minimal()
	s.create(t, got)
	want := minimal().Spec
	want.Region = "RegionOne"
	want.Infrastructure = InfrastructureSpec{
		Database: InfrastructureDatabaseSpec{DatabaseSpec: commonv1.DatabaseSpec{
			ClusterRef: &corev1.LocalObjectReference{Name: "openstack-db"}, Database: "keystone",
			SecretRef: commonv1.SecretRefSpec{Name: "keystone-db"},
		}},
		Cache: commonv1.CacheSpec{
			ClusterRef: &corev1.LocalObjectReference{Name: "openstack-memcached"}, Backend: "dogpile.cache.pymemcache", Replicas: 3,
		},
	}
	want.KORC.AdminCredential = AdminCredentialSpec{
		CloudCredentialsRef:   CloudCredentialsRef{CloudName: "admin", SecretName: "k-orc-clouds-yaml"},
		PasswordSecretRef:     commonv1.SecretRefSpec{Name: "keystone-admin", Key: "password"},
		ApplicationCredential: ApplicationCredentialSpec{Restricted: new(true), Rotation: RotationSpec{Mode: RotationPasswordDriven}},
	}
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func (s *apiServer) testBrownfield(t *testing.T) {
	got := minimal()
	got.Spec.Infrastructure.Database.DatabaseSpec = commonv1.DatabaseSpec{
		Host: "db.example.com", Database: "keystone", SecretRef: commonv1.SecretRefSpec{Name: "db"},
	}
	s.create(t, got)
	if got.Spec.Infrastructure.Database.IsManaged() {
		t.Error("an external database became a managed one")
	}
	if !got.Spec.Infrastructure.Cache.IsManaged() {
		t.Error("the cache has no default beside an external database")
	}
}

func (s *apiServer) testRefuses(t *testing.T) {
	const release, credential = "spec.openStackRelease", "spec.korc.adminCredential."
	for _, c := range []struct {
		name, path, message string
		change              func(*ControlPlane)
	}{
		{"no release", release, "should match", func(cp *ControlPlane) { cp.Spec.OpenStackRelease = "" }},
		{"a release with a suffix", release, "should match", func(cp *ControlPlane) { cp.Spec.OpenStackRelease = "2025.2-rc1" }},
		{"a database in both modes", "spec.infrastructure.database", "exactly one of clusterRef or host must be set", func(cp *ControlPlane) {
			cp.Spec.Infrastructure.Database.DatabaseSpec = commonv1.DatabaseSpec{
				Host: "db", ClusterRef: &corev1.LocalObjectReference{Name: "mariadb"}, Database: "keystone",
				SecretRef: commonv1.SecretRefSpec{Name: "db"},
			}
		}},
		{"a cache in both modes", "spec.infrastructure.cache", "exactly one of clusterRef or servers must be set", func(cp *ControlPlane) {
			cp.Spec.Infrastructure.Cache = commonv1.CacheSpec{
				Servers: []string{"a"}, ClusterRef: &corev1.LocalObjectReference{Name: "memcached"},
			}
		}},
		{
			"a size that is no quantity", "spec.infrastructure.database.storageSize", "storageSize must be a positive quantity",
			sized("plenty"),
		},
		{"a size of nothing", "spec.infrastructure.database.storageSize", "storageSize must be a positive quantity", sized("0")},
		{"no Keystone replicas", "spec.services.keystone.replicas", "greater than or equal to 1", func(cp *ControlPlane) {
			cp.Spec.Services.Keystone.Replicas = new(int32(0))
		}},
		{"an endpoint of another protocol", "spec.services.keystone.publicEndpoint", "should match", func(cp *ControlPlane) {
			cp.Spec.Services.Keystone.PublicEndpoint = "keystone.example.com"
		}},
		{"a global rule without a name", "spec.global", "policy rule name must not be empty", func(cp *ControlPlane) {
			cp.Spec.Global = &commonv1.PolicySpec{Rules: map[string]string{"": "role:admin"}}
		}},
		{"a rule without a definition", "spec.services.keystone.policyOverrides", "policy rule value must not be empty", func(cp *ControlPlane) {
			cp.Spec.Services.Keystone.PolicyOverrides = &commonv1.PolicySpec{Rules: map[string]string{"a": ""}}
		}},
		{"an unknown rotation", credential + "applicationCredential.rotation.mode", "Unsupported value", func(cp *ControlPlane) {
			cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode = "Never"
		}},
		{"an unknown method", credential + "applicationCredential.accessRules[0].method", "Unsupported value", func(cp *ControlPlane) {
			cp.Spec.KORC.AdminCredential.ApplicationCredential.AccessRules = []AccessRule{{Service: "compute", Method: "FETCH"}}
		}},
		{"a relative path", credential + "applicationCredential.accessRules[0].path", "should match", func(cp *ControlPlane) {
			cp.Spec.KORC.AdminCredential.ApplicationCredential.AccessRules = []AccessRule{{Service: "compute", Path: "servers"}}
		}},
		{"an unknown resource", credential + "bootstrapResources[0].kind", "Unsupported value", func(cp *ControlPlane) {
			cp.Spec.KORC.AdminCredential.BootstrapResources = []BootstrapResourceSpec{{Kind: "User", Name: "x"}}
		}},
		{"a resource twice", credential + "bootstrapResources[1]", "Duplicate value", func(cp *ControlPlane) {
			cp.Spec.KORC.AdminCredential.BootstrapResources = []BootstrapResourceSpec{{Kind: "Role", Name: "x"}, {Kind: "Role", Name: "x"}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cp := minimal()
			cp.Namespace = s.namespace
			c.change(cp)
			wantInvalid(t, s.Create(t.Context(), cp), c.path, c.message)
		})
	}
}

func (s *apiServer) testRefusesRotation(t *testing.T) {
	const target = RotationTargetAdminApplicationCredential
	for _, c := range []struct {
		path, message string
		spec          CredentialRotationSpec
	}{
		{"spec.target", "Unsupported value", CredentialRotationSpec{Target: "everything"}},
		{"spec.intervalDays", "greater than or equal to 1", CredentialRotationSpec{Target: target, IntervalDays: new(int32(0))}},
		{"spec.preRotationDays", "greater than or equal to 0", CredentialRotationSpec{Target: target, PreRotationDays: new(int32(-1))}},
		{"spec.gracePeriodDays", "greater than or equal to 0", CredentialRotationSpec{Target: target, GracePeriodDays: new(int32(-1))}},
	} {
		t.Run(c.path, func(t *testing.T) {
			rotation := &CredentialRotation{ObjectMeta: metav1.ObjectMeta{Name: "rotate", Namespace: s.namespace}, Spec: c.spec}
			wantInvalid(t, s.Create(t.Context(), rotation), c.path, c.message)
		})
	}
}

func sized(size string) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		cp.Spec.Infrastructure.Database = InfrastructureDatabaseSpec{
			DatabaseSpec: commonv1.DatabaseSpec{
				ClusterRef: &corev1.LocalObjectReference{Name: "openstack-db"}, Database: "keystone",
				SecretRef: commonv1.SecretRefSpec{Name: "keystone-db"},
			},
			StorageSize: size,
		}
	}
}

func wantInvalid(t *testing.T, err error, path, message string) {
	t.Helper()
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), message) {
		t.Errorf("want Invalid with %q at %s, got %v", message, path, err)
	}
}

// testLeftToWebhook guards against a rule on a Keystone's field moving to a
// type that both kinds share.
func (s *apiServer) testLeftToWebhook(t *testing.T) {
	cp := minimal()
	cp.Spec.Global = &commonv1.PolicySpec{}
	sized("512Mi")(cp)
	s.create(t, cp)
	cp.Spec.Infrastructure.Database.Database = "other"
	cp.Spec.Infrastructure.Database.ClusterRef = nil
	cp.Spec.Infrastructure.Database.Host = "db.example.com"
	if err := s.Update(t.Context(), cp); err != nil {
		t.Errorf("the schema refuses what only the webhook should: %v", err)
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
		})
	}
}
