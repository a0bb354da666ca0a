//go:build integration

package controller_test

import (
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"

	common "github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

// bare is a separate API server without any third-party kinds, and an operator that is never
// restarted.
type bare struct {
	*world
	env     *envtest.Env
	secrets *standin.ExternalSecrets
	korc    *standin.KORC
}

func newBare(t *testing.T) *bare {
	t.Helper()
	b := &bare{
		env:     envtest.Start(t, envtest.Options{CRDs: []string{"../../config/crd/bases"}}),
		secrets: standin.NewExternalSecrets(), korc: standin.NewKORC(),
	}
	b.world = &world{Client: b.env.Client(t, extended(t)), cp: minimal(b.env.Namespace(t))}
	cfg, err := b.env.User(t.Context(), "c5c3-operator", "../../helm/c5c3-operator/files/rbac-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	program := testutil.Program(b.korc, func(t *pass.Tools) { t.RetryPeriod = 500 * time.Millisecond })
	running.Start(t, program, cfg, "", common.Options{})
	return b
}

// define adds the kinds in a file or a directory.
func (b *bare) define(t *testing.T, path string) {
	t.Helper()
	options := crenvtest.CRDInstallOptions{Paths: []string{path}, ErrorIfPathMissing: true, MaxTime: expect.Timeout}
	if _, err := crenvtest.InstallCRDs(b.env.Config, options); err != nil {
		t.Fatal(err)
	}
}

// startSecrets installs External Secrets with its store.
func (b *bare) startSecrets(t *testing.T) (stop func()) {
	t.Helper()
	thirdparty.Install(t, b.env.Config, thirdparty.ExternalSecrets)
	objects.Create(t, b, secretStore())
	return standin.Start(t, b.env.Config, b.secrets)
}

func TestEachMissingKindIsNamedUntilItIsInstalled(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	b.secrets.Put("openstack/keystone/"+b.cp.Namespace+"/controlplane/db", map[string]string{"username": "keystone", "password": "p"})
	b.secrets.Put("bootstrap/"+b.cp.Namespace+"/controlplane-keystone/admin", map[string]string{"password": "p"})
	for _, svc := range dataServices {
		b.secrets.Put("openstack/"+nameOf(svc)+"/"+b.cp.Namespace+"/controlplane/db", map[string]string{"username": nameOf(svc), "password": "p"})
	}
	for _, svc := range furtherServices {
		edit(b.cp, svc, "{}")
	}
	b.cp.Spec.Services.Keystone.IdentityBackends = []c5c3v1alpha1.ServiceKeystoneIdentityBackendSpec{fixture.Directory("staff")}
	b.cp.Spec.Services.Glance.Backends = []c5c3v1alpha1.ServiceGlanceBackendSpec{volume("images")}
	objects.Create(t, b, b.cp)
	b.expect(t, "InfrastructureReady", metav1.ConditionFalse, "MariaDBNotInstalled",
		"install mariadb-operator, or set spec.infrastructure.database.host")
	b.expect(t, "DBCredentialsReady", metav1.ConditionFalse, "ExternalSecretsNotInstalled", "install External Secrets",
		"or set spec.infrastructure.database.host")
	b.expect(t, "AdminPasswordReady", metav1.ConditionFalse, "ExternalSecretsNotInstalled", "install External Secrets")

	thirdparty.Install(t, b.env.Config, thirdparty.MariaDB)
	standin.Start(t, b.env.Config, standin.NewMariaDB())
	b.expect(t, "InfrastructureReady", metav1.ConditionFalse, "MemcachedNotInstalled",
		"install the memcached operator, or set spec.infrastructure.cache.servers")

	b.define(t, "../../../../deploy/infra/memcached-operator/crd.yaml")
	standin.Start(t, b.env.Config, standin.NewReady(infraapi.MemcachedKind))
	b.expect(t, "KeystoneReady", metav1.ConditionFalse, "KeystoneNotInstalled", "install the Keystone operator")

	b.define(t, "../../../keystone/config/crd/bases/keystone.openstack.c5c3.io_keystones.yaml")
	b.report(t, "2025.2", "", true)
	b.expect(t, "KeystoneReady", metav1.ConditionTrue, "KeystoneReady")
	b.expect(t, "IdentityBackendsReady", metav1.ConditionFalse, "KeystoneNotInstalled",
		"no kind KeystoneIdentityBackend: install the Keystone operator")
	b.define(t, "../../../keystone/config/crd/bases")
	b.expect(t, "IdentityBackendsReady", metav1.ConditionFalse, "WaitingForIdentityBackends", "KeystoneIdentityBackend staff is not ready")
	for _, svc := range furtherServices {
		b.expectEach(t, services.List{svc}, metav1.ConditionFalse, "KINDNotInstalled", "install the "+svc.Kind.Kind+" operator")
	}
	b.define(t, "../../../barbican/config/crd/bases")
	b.define(t, "../../../placement/config/crd/bases")
	b.define(t, "../../../glance/config/crd/bases/glance.openstack.c5c3.io_glances.yaml")
	b.expect(t, "GlanceReady", metav1.ConditionFalse, "GlanceNotInstalled", "no kind GlanceBackend: install the Glance operator")
	b.define(t, "../../../glance/config/crd/bases")
	b.define(t, "../../../horizon/config/crd/bases")
	b.expect(t, "PlacementReady", metav1.ConditionFalse, "WaitingForServiceUser", "KORCReady says why")
	b.expect(t, "KORCReady", metav1.ConditionFalse, "KORCNotInstalled", "install K-ORC, the OpenStack Resource Controller")

	thirdparty.Install(t, b.env.Config, thirdparty.KORC)
	standin.Start(t, b.env.Config, b.korc)
	b.expect(t, "KORCReady", metav1.ConditionFalse, "ExternalSecretsNotInstalled", "install External Secrets")

	stop := b.startSecrets(t)
	b.reportAll(t, furtherServices)
	b.reportBackend(t, "images")
	b.expect(t, "Ready", metav1.ConditionTrue, "AllReady")

	// It is removed with all its objects, and comes back.
	thirdparty.Remove(t, b.env.Config, thirdparty.ExternalSecrets)
	stop()
	b.expect(t, "DBCredentialsReady", metav1.ConditionFalse, "ExternalSecretsNotInstalled")
	b.startSecrets(t)
	b.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

// relax removes rules from the definition of a kind, as if it were from an earlier
// release.
func (b *bare) relax(t *testing.T, crd string, rules func(spec *apiextensionsv1.JSONSchemaProps)) {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crd}}
	objects.Change(t, b, definition, func(d *apiextensionsv1.CustomResourceDefinition) {
		spec := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		rules(&spec)
		d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	})
}

func extended(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := controller.Scheme()
	if err := apiextensionsv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}
