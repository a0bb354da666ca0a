package services

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/schedule"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestServicesMatchTheirGoldenFiles(t *testing.T) {
	for name, cp := range map[string]*c5c3v1alpha1.ControlPlane{"minimal": fixture.WithPlacement(), "complete": fixture.Complete()} {
		keystone, err := keystoneChild(cp, given{policy: All.globalPolicy(cp, Keystone)})
		if err != nil {
			t.Fatal(err)
		}
		golden.CompareYAML(t, name+"/keystone.yaml", keystone)
		placement, err := Placement.desired(cp, given{policy: All.globalPolicy(cp, Placement), login: "the-user"})
		if err != nil {
			t.Fatal(err)
		}
		golden.CompareYAML(t, name+"/placement.yaml", placement)
	}
	barbican, err := Barbican.desired(fixture.Complete(), given{policy: All.globalPolicy(fixture.Complete(), Barbican), login: "the-user"})
	if err != nil {
		t.Fatal(err)
	}
	golden.CompareYAML(t, "complete/barbican.yaml", barbican)
	glance, err := Glance.desired(fixture.Complete(), given{policy: All.globalPolicy(fixture.Complete(), Glance), login: "the-user"})
	if err != nil {
		t.Fatal(err)
	}
	golden.CompareYAML(t, "complete/glance.yaml", glance)
	for _, backend := range glanceBackends(fixture.Complete()) {
		golden.CompareYAML(t, "complete/glance-backend-"+backend.GetName()+".yaml", backend)
	}
	for _, backend := range identityBackends(fixture.Complete()) {
		golden.CompareYAML(t, "complete/keystone-identity-backend-"+backend.GetName()+".yaml", backend)
	}
	for _, store := range secretStores(fixture.Complete()) {
		golden.CompareYAML(t, "complete/barbican-secret-store-"+store.GetName()+".yaml", store)
	}
	golden.CompareYAML(t, "complete/horizon.yaml", horizonChild(fixture.Complete(), given{domains: []keystonev1alpha1.IdentityDomain{
		{Name: "staff"}, {Name: "company", IdentityProvider: "company", Protocol: "openid"},
	}}))
	cp := fixture.Minimal()
	golden.CompareYAML(t, "minimal/memcached-clients.yaml", All.CacheClients(cp))
	golden.CompareYAML(t, "minimal/keystone-clients.yaml", keystoneClients(cp, NamespacesOf("c5c3-system", "orc-system")))
}

func TestThePublicEndpointDefaultsToTheGateway(t *testing.T) {
	cp := fixture.Complete()
	cp.Spec.Services.Keystone.PublicEndpoint = ""
	keystone, err := keystoneChild(cp, given{policy: All.globalPolicy(cp, Keystone)})
	if err != nil {
		t.Fatal(err)
	}
	if got := keystone.Spec.Bootstrap.PublicEndpoint; got != "https://keystone.example.com/v3" {
		t.Errorf("got %q", got)
	}
}

func TestAServicePolicyOverridesTheGlobalOne(t *testing.T) {
	file := func(name string) *corev1.LocalObjectReference { return &corev1.LocalObjectReference{Name: name} }
	for name, c := range map[string]struct{ global, service, want *commonv1.PolicySpec }{
		"none":        {nil, nil, nil},
		"global only": {&commonv1.PolicySpec{ConfigMapRef: file("g")}, nil, &commonv1.PolicySpec{ConfigMapRef: file("g")}},
		"service only": {
			nil, &commonv1.PolicySpec{Rules: map[string]string{"a": "s"}}, &commonv1.PolicySpec{Rules: map[string]string{"a": "s"}},
		},
		"the service's file": {
			&commonv1.PolicySpec{ConfigMapRef: file("g")}, &commonv1.PolicySpec{ConfigMapRef: file("s")},
			&commonv1.PolicySpec{ConfigMapRef: file("s")},
		},
		"rules of both beside the global file": {
			&commonv1.PolicySpec{ConfigMapRef: file("g"), Rules: map[string]string{"a": "g", "b": "g"}},
			&commonv1.PolicySpec{Rules: map[string]string{"b": "s"}},
			&commonv1.PolicySpec{ConfigMapRef: file("g"), Rules: map[string]string{"a": "g", "b": "s"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, mergePolicies(c.global, c.service)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestARotationIntervalIsConvertedToAnExactSchedule(t *testing.T) {
	for days := range 30 {
		interval := time.Duration(days+1) * 24 * time.Hour
		expression, err := rotationSchedule(metav1.Duration{Duration: interval})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := schedule.MinInterval(expression); err != nil || got != interval {
			t.Errorf("%s became %q, which comes every %s (%v)", interval, expression, got, err)
		}
	}
}

func TestARotationIntervalMustBeAMultipleOfADay(t *testing.T) {
	got, err := rotationSchedule(metav1.Duration{Duration: 36 * time.Hour})
	if err == nil || !strings.Contains(err.Error(), "multiple of 24h") {
		t.Errorf("got %q and %v", got, err)
	}
}

func TestWhatAControlPlaneSetsOnItsKeystoneIsValid(t *testing.T) {
	for _, cp := range []*c5c3v1alpha1.ControlPlane{fixture.Minimal(), fixture.Complete()} {
		keystone, err := keystoneChild(cp, given{policy: All.globalPolicy(cp, Keystone)})
		if err != nil {
			t.Fatal(err)
		}
		keystonev1alpha1.SetDefaults(keystone)
		if errs := keystonev1alpha1.Validate(keystone); len(errs) > 0 {
			t.Error(errs)
		}
	}
}

func TestTheUpdatePhaseIsDerivedFromTheKeystoneStatus(t *testing.T) {
	const idle, updating, services, verifying, back = c5c3v1alpha1.UpdatePhaseIdle, c5c3v1alpha1.UpdatePhaseUpdating,
		c5c3v1alpha1.UpdatePhaseUpdatingServices, c5c3v1alpha1.UpdatePhaseVerifying, c5c3v1alpha1.UpdatePhaseRollingBack
	for _, c := range []struct {
		name                         string
		previous                     c5c3v1alpha1.UpdatePhase
		wanted, installed, upgrading string
		ready                        bool
		want                         c5c3v1alpha1.UpdatePhase
	}{
		{"before the first installation", "", "2025.1", "", "", false, idle},
		{"installed", "", "2025.1", "2025.1", "", true, idle},
		{"not ready for another reason", idle, "2025.1", "2025.1", "", false, idle},
		{"asked for", idle, "2025.2", "2025.1", "", true, updating},
		{"begun", updating, "2025.2", "2025.1", "2025.2", false, services},
		{"waiting for its turn after another service", services, "2025.2", "2025.1", "", true, services},
		{"installed but not ready", services, "2025.2", "2025.2", "", false, verifying},
		{"still not ready", verifying, "2025.2", "2025.2", "", false, verifying},
		{"done", verifying, "2025.2", "2025.2", "", true, idle},
		{"rolled back", services, "2025.1", "2025.1", "2025.2", false, back},
		{"rolled back and not ready", back, "2025.1", "2025.1", "", false, back},
		{"back where it was", back, "2025.1", "2025.1", "", true, idle},
	} {
		t.Run(c.name, func(t *testing.T) {
			keystone := &keystonev1alpha1.Keystone{}
			keystone.Spec.Image.Tag = c.wanted
			keystone.Status.InstalledRelease, keystone.Status.TargetRelease = c.installed, c.upgrading
			if c.ready {
				keystone.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}}
			}
			if got := updatePhase(c.previous, keystone); got != c.want {
				t.Errorf("got %s, expected %s", got, c.want)
			}
		})
	}
}

func TestCatalogAndBootstrapObjectsMatchTheirGoldenFiles(t *testing.T) {
	for name, cp := range map[string]*c5c3v1alpha1.ControlPlane{"minimal": fixture.Minimal(), "complete": fixture.Narrow()} {
		golden.CompareYAML(t, name+"/service.yaml", Keystone.catalogService(cp))
		golden.CompareYAML(t, name+"/endpoint.yaml", identityEndpoint(cluster.Settings{}, cp))
	}
	for _, resource := range fixture.Narrow().Spec.KORC.AdminCredential.BootstrapResources {
		golden.CompareYAML(t, "complete/bootstrap-"+resource.Kind+".yaml", bootstrapResource(fixture.Narrow(), resource))
	}
	if diff := cmp.Diff(Keystone.catalogService(fixture.Minimal()), korc.IdentityService(fixture.Minimal())); diff != "" {
		t.Errorf("what access rules refer to is not what is entered (-entered +referred to):\n%s", diff)
	}
}

func TestPlacementCatalogAndUserMatchTheirGoldenFiles(t *testing.T) {
	for name, cp := range map[string]*c5c3v1alpha1.ControlPlane{"minimal": fixture.WithPlacement(), "complete": fixture.Complete()} {
		golden.CompareYAML(t, name+"/placement-service.yaml", Placement.catalogService(cp))
		golden.CompareYAML(t, name+"/placement-endpoint.yaml",
			Placement.catalogEndpoint(Placement.endpoints[0], cluster.Settings{}, cp))
	}
	cp, made := fixture.WithPlacement(), &corev1.Secret{Data: map[string][]byte{keyPassword: []byte("s3cret")}}
	login, err := loginSecret(cp, Placement, made)
	if err != nil {
		t.Fatal(err)
	}
	golden.CompareYAML(t, "minimal/placement-login.yaml", login)
	golden.CompareYAML(t, "minimal/placement-user.yaml", userOf(cp, Placement, login))
	made.Data[keyCredential] = []byte("v4lue")
	made.Annotations = map[string]string{c5c3v1alpha1.AnnotationCredentialExpiry: "2026-12-21T12:00:00Z"}
	if login, err = loginSecret(cp, Placement, made); err != nil {
		t.Fatal(err)
	}
	user := userOf(cp, Placement, login)
	golden.CompareYAML(t, "credential/placement-owner.yaml", login)
	golden.CompareYAML(t, "credential/placement-user.yaml", user)
	golden.CompareYAML(t, "credential/placement-credential.yaml", credentialOf(cp, Placement, user, made))
}

func TestTheDatabasePasswordStorePathIsPrefixedWithTheClusterName(t *testing.T) {
	if got := databasePath(cluster.Settings{Name: "east"}, fixture.Minimal()); got != "east/openstack/keystone/openstack/controlplane/db" {
		t.Errorf("it is at %s", got)
	}
}

func TestCatalogURLsUseTheClusterDomain(t *testing.T) {
	got := identityEndpoint(cluster.Settings{Domain: "k8s.example.com"}, fixture.Minimal()).Spec.Resource.URL
	if got != "http://controlplane-keystone.openstack.svc.k8s.example.com:5000/v3" {
		t.Errorf("it has Keystone at %q", got)
	}
}

func identityEndpoint(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) *orcv1alpha1.Endpoint {
	return Keystone.catalogEndpoint(Keystone.endpoints[0], c, cp)
}

func TestCatalogAndBootstrapObjectsAreDetachedOnDeletion(t *testing.T) {
	cp := fixture.Narrow()
	stay := map[string]*orcv1alpha1.ManagedOptions{
		"service":  Keystone.catalogService(cp).Spec.ManagedOptions,
		"endpoint": identityEndpoint(cluster.Settings{}, cp).Spec.ManagedOptions,
	}
	for _, resource := range cp.Spec.KORC.AdminCredential.BootstrapResources {
		switch obj := bootstrapResource(cp, resource).(type) {
		case *orcv1alpha1.Project:
			stay["project"] = obj.Spec.ManagedOptions
		case *orcv1alpha1.Role:
			stay["role"] = obj.Spec.ManagedOptions
		}
	}
	for name, options := range stay {
		if options.GetOnDelete() != orcv1alpha1.OnDeleteDetach {
			t.Errorf("deleting the object of the %s deletes what it stands for", name)
		}
	}
	if len(stay) != 4 {
		t.Errorf("there are only %v", stay)
	}
}
