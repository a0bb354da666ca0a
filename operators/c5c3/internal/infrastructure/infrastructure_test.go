package infrastructure

import (
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestServersMatchTheirGoldenFiles(t *testing.T) {
	cp := fixture.Minimal()
	maria, err := mariaDB(cp, nil)
	if err != nil {
		t.Fatal(err)
	}
	golden.CompareYAML(t, "minimal/mariadb.yaml", maria)
	golden.CompareYAML(t, "minimal/memcached.yaml", memcached(cp))
}

func TestASingleDatabaseServerRunsWithoutGalera(t *testing.T) {
	cp := fixture.Minimal()
	cp.Spec.Infrastructure.Database.Replicas, cp.Spec.Infrastructure.Database.StorageSize = new(int32(1)), "512Mi"
	maria, err := mariaDB(cp, nil)
	if err != nil {
		t.Fatal(err)
	}
	if *maria.Spec.Replicas != 1 || maria.Spec.Galera.Enabled || maria.Spec.Storage.Size.String() != "512Mi" {
		t.Errorf("got %+v", maria.Spec)
	}
}

func TestAnEnlargedVolumeIsNotShrunk(t *testing.T) {
	maria, err := mariaDB(fixture.Minimal(), &infraapi.MariaDBSpec{Storage: &infraapi.Storage{Size: new(resource.MustParse("200Gi"))}})
	if err != nil {
		t.Fatal(err)
	}
	if size := maria.Spec.Storage.Size.String(); size != "200Gi" {
		t.Errorf("got %s", size)
	}
}

func TestTheStartupProbeAllowsAnHourForAStateTransfer(t *testing.T) {
	maria, err := mariaDB(fixture.Minimal(), nil)
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

func TestGaleraAgentsUseBasicAuthInsteadOfClusterPermissions(t *testing.T) {
	maria, err := mariaDB(fixture.Minimal(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if agent := maria.Spec.Galera.Agent; agent == nil || agent.BasicAuth == nil || !agent.BasicAuth.Enabled {
		t.Errorf("got %+v", agent)
	}
}

func TestProbesOfASingleDatabaseServerUseTCP(t *testing.T) {
	cp := fixture.Minimal()
	for _, replicas := range []int32{1, 3} {
		cp.Spec.Infrastructure.Database.Replicas = &replicas
		maria, err := mariaDB(cp, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, probe := range map[string]*infraapi.Probe{
			"startup": maria.Spec.StartupProbe, "readiness": maria.Spec.ReadinessProbe, "liveness": maria.Spec.LivenessProbe,
		} {
			// The agents of a cluster answer over HTTP, whatever the spec says.
			if connects := probe != nil && probe.TCPSocket != nil; connects != (replicas == 1) {
				t.Errorf("the %s probe with %d servers: %+v", name, replicas, probe)
			}
		}
	}
}

func TestFieldsThatWouldRestartExistingServersAreNotChanged(t *testing.T) {
	theirs := &infraapi.Probe{FailureThreshold: 9}
	for name, existing := range map[string]infraapi.MariaDBSpec{
		"from before":  {Galera: &infraapi.Galera{Enabled: true}},
		"with a token": {Galera: &infraapi.Galera{Enabled: true, Agent: &infraapi.GaleraAgent{}}},
		"changed": {
			Galera: &infraapi.Galera{Enabled: true, ProviderOptions: map[string]string{"gcache.size": "1G"}}, StartupProbe: theirs,
			ReadinessProbe: theirs, LivenessProbe: theirs, Resources: &infraapi.Resources{}, Affinity: &infraapi.Affinity{},
		},
	} {
		maria, err := mariaDB(fixture.Minimal(), &existing)
		if err != nil {
			t.Fatal(err)
		}
		got := maria.Spec
		if got.StartupProbe != existing.StartupProbe || got.ReadinessProbe != existing.ReadinessProbe ||
			got.LivenessProbe != existing.LivenessProbe ||
			got.Resources != existing.Resources || got.Affinity != existing.Affinity || got.Galera.Agent != nil ||
			!maps.Equal(got.Galera.ProviderOptions, existing.Galera.ProviderOptions) {
			t.Errorf("%s: got %+v and %+v", name, got, got.Galera)
		}
	}
}

func TestServersGetTheImagesAndStorageClassOfTheControlPlane(t *testing.T) {
	cp := fixture.Minimal()
	pull := []corev1.LocalObjectReference{{Name: "registry"}}
	db := &cp.Spec.Infrastructure.Database
	db.StorageClassName, db.Image, db.ImagePullSecrets = "ceph-rbd", "registry.example.com/mariadb:11.8", pull
	cp.Spec.Infrastructure.Cache.Image = "registry.example.com/memcached:1.6"
	maria, err := mariaDB(cp, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := maria.Spec; got.Storage.StorageClassName != "ceph-rbd" || got.Image != db.Image || !slices.Equal(got.ImagePullSecrets, pull) {
		t.Errorf("the database has %+v with volumes %+v", got, got.Storage)
	}
	if got := memcached(cp).Spec.Image; got != "registry.example.com/memcached:1.6" {
		t.Errorf("the cache runs %q", got)
	}
	maria, err = mariaDB(cp, &infraapi.MariaDBSpec{Storage: &infraapi.Storage{Size: new(resource.MustParse("100Gi"))}})
	if err != nil {
		t.Fatal(err)
	}
	if got := maria.Spec; got.Storage.StorageClassName != "" || got.ImagePullSecrets != nil || got.Image != db.Image {
		t.Errorf("an existing one gets %+v with volumes %+v, which mariadb-operator refuses", got, got.Storage)
	}
}

func TestServersOfANewDatabaseRunOnDifferentNodes(t *testing.T) {
	cp := fixture.Minimal()
	for _, replicas := range []int32{1, 3} {
		cp.Spec.Infrastructure.Database.Replicas = &replicas
		maria, err := mariaDB(cp, nil)
		if err != nil {
			t.Fatal(err)
		}
		if apart := maria.Spec.Affinity != nil && maria.Spec.Affinity.PodAntiAffinity != nil; apart != (replicas > 1) {
			t.Errorf("%d servers: apart %t", replicas, apart)
		}
	}
}

func TestDatabaseServersHaveResourceRequests(t *testing.T) {
	maria, err := mariaDB(fixture.Minimal(), nil)
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

func TestTheAdminPasswordStorePathIsPrefixedWithTheClusterName(t *testing.T) {
	got := controlplane.AdminPasswordPath(cluster.Settings{Name: "east"}, fixture.Minimal())
	if got != "east/bootstrap/openstack/controlplane-keystone/admin" {
		t.Errorf("it is at %s", got)
	}
}
