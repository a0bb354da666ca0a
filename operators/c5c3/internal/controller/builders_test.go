package controller

import (
	"maps"
	"strings"
	"testing"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/schedule"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const aDay = 24 * time.Hour

// minimal is a control plane with nothing but its defaults.
func minimal() *c5c3v1alpha1.ControlPlane {
	cp := &c5c3v1alpha1.ControlPlane{
		ObjectMeta: metav1.ObjectMeta{Name: "controlplane", Namespace: "openstack", UID: "uid"},
		Spec: c5c3v1alpha1.ControlPlaneSpec{
			OpenStackRelease: "2025.2", Services: c5c3v1alpha1.ServicesSpec{Keystone: &c5c3v1alpha1.ServiceKeystoneSpec{}},
		},
	}
	c5c3v1alpha1.SetDefaults(cp)
	return cp
}

// withPlacement is one with a Placement.
func withPlacement() *c5c3v1alpha1.ControlPlane {
	cp := minimal()
	cp.Spec.Services.Placement = &c5c3v1alpha1.ServicePlacementSpec{}
	c5c3v1alpha1.SetDefaults(cp)
	return cp
}

// complete is one that sets whatever is projected into the Keystone, with a
// database and a cache of the user's.
func complete() *c5c3v1alpha1.ControlPlane {
	cp := minimal()
	cp.Spec.Region = "EU-West"
	cp.Spec.Infrastructure.Database.DatabaseSpec = commonv1.DatabaseSpec{
		Host: "db.example.com", Port: 3307, Database: "identity", SecretRef: commonv1.SecretRefSpec{Name: "db", Key: "pw"},
		TLS: &commonv1.DatabaseTLSSpec{
			Enabled: true, Mode: commonv1.DatabaseTLSVerifyFull,
			CABundleSecretRef: &commonv1.SecretRefSpec{Name: "ca"}, ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "client"},
		},
	}
	cp.Spec.Infrastructure.Cache = commonv1.CacheSpec{Servers: []string{"memcached.example.com"}, Backend: "dogpile.cache.pymemcache"}
	cp.Spec.Global = &commonv1.PolicySpec{Rules: map[string]string{"a": "global", "b": "global"}}
	service := c5c3v1alpha1.ServiceSpec{
		Replicas: new(int32(2)),
		Image:    &commonv1.ImageSpec{Repository: "registry.example.com/keystone", Tag: "2025.2-1"},

		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}},
		PolicyOverrides: &commonv1.PolicySpec{
			Rules: map[string]string{"b": "service"}, ConfigMapRef: &corev1.LocalObjectReference{Name: "policy"},
		},
		Gateway: &commonv1.GatewaySpec{
			ParentRef: commonv1.GatewayParentRefSpec{Name: "public"}, Hostname: "keystone.example.com", Path: "/",
		},
		PublicEndpoint: "https://keystone.example.com:8443/v3",
	}
	cp.Spec.Services.Keystone = &c5c3v1alpha1.ServiceKeystoneSpec{
		ServiceSpec: service, RotationInterval: &metav1.Duration{Duration: 48 * time.Hour},
	}
	service = *service.DeepCopy()
	service.Image.Repository = "registry.example.com/placement"
	service.Gateway.Hostname, service.PublicEndpoint = "placement.example.com", "https://placement.example.com:8443"
	cp.Spec.Services.Placement = &c5c3v1alpha1.ServicePlacementSpec{ServiceSpec: service, Database: c5c3v1alpha1.PlacementDatabaseSpec{
		Database: "placement", SecretRef: commonv1.SecretRefSpec{Name: "placement-db"},
	}}
	return cp
}

func TestWhatAControlPlaneSetsOnOthers(t *testing.T) {
	for name, cp := range map[string]*c5c3v1alpha1.ControlPlane{"minimal": withPlacement(), "complete": complete()} {
		keystone, err := keystoneChild(cp, given{policy: cp.Spec.Global})
		if err != nil {
			t.Fatal(err)
		}
		golden.CompareYAML(t, name+"/keystone.yaml", keystone)
		golden.CompareYAML(t, name+"/placement.yaml", placementChild(cp, given{policy: cp.Spec.Global, login: "the-user"}))
	}
	cp := minimal()
	maria, err := mariaDB(cp, nil)
	if err != nil {
		t.Fatal(err)
	}
	golden.CompareYAML(t, "minimal/mariadb.yaml", maria)
	golden.CompareYAML(t, "minimal/memcached.yaml", memcached(cp))
	golden.CompareYAML(t, "minimal/memcached-clients.yaml", services.cacheClients(cp))
	golden.CompareYAML(t, "minimal/keystone-clients.yaml", keystoneClients(cp, namespacesOf("c5c3-system", "orc-system")))
	golden.CompareYAML(t, "minimal/externalsecret.yaml", externalSecret(cp, delivery{
		name: cp.DatabaseSecretName(), path: databasePath(cluster.Settings{}, cp), properties: []string{"username", "password"},
	}))
}

func TestOneDatabaseServerIsNoCluster(t *testing.T) {
	cp := minimal()
	cp.Spec.Infrastructure.Database.Replicas, cp.Spec.Infrastructure.Database.StorageSize = new(int32(1)), "512Mi"
	maria, err := mariaDB(cp, nil)
	if err != nil {
		t.Fatal(err)
	}
	if *maria.Spec.Replicas != 1 || maria.Spec.Galera.Enabled || maria.Spec.Storage.Size.String() != "512Mi" {
		t.Errorf("got %+v", maria.Spec)
	}
}

func TestAnEnlargedVolumeIsNotShrunkAgain(t *testing.T) {
	maria, err := mariaDB(minimal(), &infraapi.MariaDBSpec{Storage: &infraapi.Storage{Size: new(resource.MustParse("200Gi"))}})
	if err != nil {
		t.Fatal(err)
	}
	if size := maria.Spec.Storage.Size.String(); size != "200Gi" {
		t.Errorf("got %s", size)
	}
}

func TestAServerThatCopiesALargeDatabaseIsNotTakenForDead(t *testing.T) {
	maria, err := mariaDB(minimal(), nil)
	if err != nil {
		t.Fatal(err)
	}
	probe := maria.Spec.StartupProbe
	if probe == nil {
		t.Fatal("mariadb-operator's own probe gives it 50 seconds")
	}
	if limit := time.Duration(probe.PeriodSeconds*probe.FailureThreshold) * time.Second; limit < time.Hour {
		t.Errorf("it has %s", limit)
	}
}

func TestTheAgentsOfADatabaseClusterNeedNoRightsInTheWholeCluster(t *testing.T) {
	maria, err := mariaDB(minimal(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if agent := maria.Spec.Galera.Agent; agent == nil || agent.BasicAuth == nil || !agent.BasicAuth.Enabled {
		t.Errorf("got %+v", agent)
	}
}

func TestNothingIsSetThatWouldRestartTheServersOfAnExistingDatabase(t *testing.T) {
	theirs := &infraapi.Probe{FailureThreshold: 9}
	for name, existing := range map[string]infraapi.MariaDBSpec{
		"from before":  {Galera: &infraapi.Galera{Enabled: true}},
		"with a token": {Galera: &infraapi.Galera{Enabled: true, Agent: &infraapi.GaleraAgent{}}},
		"changed": {
			Galera: &infraapi.Galera{Enabled: true, ProviderOptions: map[string]string{"gcache.size": "1G"}}, StartupProbe: theirs,
			ReadinessProbe: theirs, Resources: &infraapi.Resources{},
		},
	} {
		maria, err := mariaDB(minimal(), &existing)
		if err != nil {
			t.Fatal(err)
		}
		got := maria.Spec
		if got.StartupProbe != existing.StartupProbe || got.ReadinessProbe != existing.ReadinessProbe ||
			got.Resources != existing.Resources || got.Galera.Agent != nil ||
			!maps.Equal(got.Galera.ProviderOptions, existing.Galera.ProviderOptions) {
			t.Errorf("%s: got %+v and %+v", name, got, got.Galera)
		}
	}
}

func TestDatabaseServersGetTheirShareOfABusyNode(t *testing.T) {
	maria, err := mariaDB(minimal(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resources := maria.Spec.Resources; resources == nil || resources.Requests.Cpu().IsZero() || resources.Requests.Memory().IsZero() {
		t.Errorf("they ask for %+v, and servers that ask for nothing get what is left", resources)
	}
	if got := maria.Spec.Galera.ProviderOptions["evs.suspect_timeout"]; got != "PT10S" {
		t.Errorf("a server that gets no time is given up after %q", got)
	}
}

func TestAGatewayAloneGivesThePublicEndpoint(t *testing.T) {
	cp := complete()
	cp.Spec.Services.Keystone.PublicEndpoint = ""
	keystone, err := keystoneChild(cp, given{policy: cp.Spec.Global})
	if err != nil {
		t.Fatal(err)
	}
	if got := keystone.Spec.Bootstrap.PublicEndpoint; got != "https://keystone.example.com/v3" {
		t.Errorf("got %q", got)
	}
}

func TestAServicesPolicyWinsOverTheGlobalOne(t *testing.T) {
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

func TestEveryNDaysMeansEveryNDays(t *testing.T) {
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

func TestAnIntervalThatIsNoNumberOfDaysIsNoSchedule(t *testing.T) {
	got, err := rotationSchedule(metav1.Duration{Duration: 36 * time.Hour})
	if err == nil || !strings.Contains(err.Error(), "multiple of 24h") {
		t.Errorf("got %q and %v", got, err)
	}
}

func TestWhatAControlPlaneSetsOnItsKeystoneIsValid(t *testing.T) {
	for _, cp := range []*c5c3v1alpha1.ControlPlane{minimal(), complete()} {
		keystone, err := keystoneChild(cp, given{policy: cp.Spec.Global})
		if err != nil {
			t.Fatal(err)
		}
		keystonev1alpha1.SetDefaults(keystone)
		if errs := keystonev1alpha1.Validate(keystone); len(errs) > 0 {
			t.Error(errs)
		}
	}
}

func TestAKeystonesUpgradeIsThePhaseOfTheUpdate(t *testing.T) {
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
		{"installed but not ready", services, "2025.2", "2025.2", "", false, verifying},
		{"still not ready", verifying, "2025.2", "2025.2", "", false, verifying},
		{"done", verifying, "2025.2", "2025.2", "", true, idle},
		{"taken back", services, "2025.1", "2025.1", "2025.2", false, back},
		{"taken back and not ready", back, "2025.1", "2025.1", "", false, back},
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

func TestTheOldestOfSeveralCounts(t *testing.T) {
	at := func(name string, second int64) c5c3v1alpha1.ControlPlane {
		return c5c3v1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(second, 0)}}
	}
	for want, all := range map[string][]c5c3v1alpha1.ControlPlane{
		"":  nil,
		"b": {at("c", 3), at("b", 1), at("a", 2)},
		"a": {at("b", 1), at("a", 1)},
	} {
		if got := oldest(all); got != want {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
}

func TestAnExternalSecretOutlivesNothing(t *testing.T) {
	es := externalSecret(minimal(), delivery{name: "x", path: "p", properties: []string{"password"}})
	if es.Spec.Target.CreationPolicy != esov1.CreatePolicyOwner || es.Spec.Target.Name != es.Name {
		t.Errorf("got %+v: the Secret must go with it", es.Spec.Target)
	}
}
