package v1alpha1

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/randfill"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestAMinimalControlPlaneGetsEveryDefault(t *testing.T) {
	want := minimal().Spec
	want.Region = "RegionOne"
	want.Infrastructure = InfrastructureSpec{
		Database: InfrastructureDatabaseSpec{DatabaseSpec: commonv1.DatabaseSpec{
			ClusterRef: named("openstack-db"), Database: "keystone", SecretRef: commonv1.SecretRefSpec{Name: "keystone-db"},
		}},
		Cache: commonv1.CacheSpec{ClusterRef: named("openstack-memcached"), Backend: "dogpile.cache.pymemcache", Replicas: 3},
	}
	want.KORC.AdminCredential = AdminCredentialSpec{
		CloudCredentialsRef:   CloudCredentialsRef{CloudName: "admin", SecretName: "k-orc-clouds-yaml"},
		PasswordSecretRef:     commonv1.SecretRefSpec{Name: "keystone-admin", Key: "password"},
		ApplicationCredential: ApplicationCredentialSpec{Restricted: new(true), Rotation: RotationSpec{Mode: RotationPasswordDriven}},
	}
	if diff := cmp.Diff(want, completed().Spec); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAServerOfTheUsersNeverBecomesAManagedOne(t *testing.T) {
	cp := minimal()
	cp.Spec.Infrastructure.Database.Host = "db.example.com"
	cp.Spec.Infrastructure.Cache.Servers = []string{"memcached.example.com"}
	got := defaulted(cp).Spec.Infrastructure
	if got.Database.ClusterRef != nil || got.Cache.ClusterRef != nil {
		t.Errorf("got clusters %v and %v", got.Database.ClusterRef, got.Cache.ClusterRef)
	}
	if got.Database.Database != "keystone" || got.Database.SecretRef.Name != "keystone-db" || got.Cache.Backend == "" {
		t.Errorf("the rest is not completed: %+v", got)
	}
}

func TestASizeAloneKeepsTheRestOfTheDatabasesDefaults(t *testing.T) {
	cp := minimal()
	cp.Spec.Infrastructure.Database = InfrastructureDatabaseSpec{Replicas: new(int32(1)), StorageSize: "512Mi"}
	cp.Spec.Infrastructure.Cache.Replicas = 1
	got := defaulted(cp)
	want := completed().Spec.Infrastructure
	want.Database.Replicas, want.Database.StorageSize, want.Cache.Replicas = new(int32(1)), "512Mi", 1
	if diff := cmp.Diff(want, got.Spec.Infrastructure); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if errs := Validate(got); len(errs) > 0 {
		t.Error(errs)
	}
}

func TestDefaultsNeverReplaceWhatTheUserWrote(t *testing.T) {
	cp := minimal()
	cp.Spec.Region = "EU-West"
	cp.Spec.Infrastructure.Database.DatabaseSpec = commonv1.DatabaseSpec{
		ClusterRef: named("mariadb"), Database: "identity", SecretRef: commonv1.SecretRefSpec{Name: "db", Key: "pw"},
		TLS: &commonv1.DatabaseTLSSpec{Mode: commonv1.DatabaseTLSVerifyCA},
	}
	cp.Spec.Infrastructure.Cache = commonv1.CacheSpec{ClusterRef: named("cache"), Backend: "oslo_cache.memcache_pool", Replicas: 1}
	cp.Spec.KORC.AdminCredential = AdminCredentialSpec{
		CloudCredentialsRef:   CloudCredentialsRef{CloudName: "cloud", SecretName: "clouds"},
		PasswordSecretRef:     commonv1.SecretRefSpec{Name: "admin", Key: "pw"},
		ApplicationCredential: ApplicationCredentialSpec{Restricted: new(false), Rotation: RotationSpec{Mode: RotationManual}},
	}
	if diff := cmp.Diff(cp.Spec, defaulted(cp).Spec); diff != "" {
		t.Errorf("-written +defaulted:\n%s", diff)
	}
}

const randomControlPlanes = 2000

// randomControlPlane fills in everything at random, so that hardly any of it is
// valid.
func randomControlPlane(seed uint64) *ControlPlane {
	cp := &ControlPlane{}
	randfill.NewWithSeed(int64(seed)).NilChance(0.4).NumElements(0, 3).MaxDepth(12).Funcs(
		func(s *string, c randfill.Continue) {
			*s = []string{"", "a", "x\ny", "2025.2", "https://a.example.com", "keystone-admin", "10Gi"}[c.Intn(7)]
		},
	).Fill(&cp.Spec)
	cp.Name = "controlplane"
	return cp
}

func TestDefaultingTwiceIsDefaultingOnce(t *testing.T) {
	for seed := range uint64(randomControlPlanes) {
		once := defaulted(randomControlPlane(seed))
		if diff := cmp.Diff(once, defaulted(once)); diff != "" {
			t.Fatalf("seed %d (-once +twice):\n%s", seed, diff)
		}
	}
}

func TestValidationTakesWhateverComesAndNamesAField(t *testing.T) {
	for seed := range uint64(randomControlPlanes) {
		cp := randomControlPlane(seed)
		for _, err := range append(Validate(cp), ValidateUpdate(cp, randomControlPlane(seed+1))...) {
			if !strings.HasPrefix(err.Field, "spec.") {
				t.Fatalf("seed %d: an error names no field of the spec: %v", seed, err)
			}
		}
	}
}

func TestAValidControlPlaneStaysValidWithDefaults(t *testing.T) {
	changes, names := accepted(), slices.Sorted(maps.Keys(accepted()))
	valid := 0
	for seed := range uint64(randomControlPlanes) {
		random := rand.New(rand.NewPCG(seed, seed))
		cp := minimal()
		for range random.IntN(4) {
			if change := changes[names[random.IntN(len(names))]]; cp.Spec.Services.Keystone != nil {
				change(cp)
			}
		}
		written := defaulted(cp)
		if errs := Validate(written); len(errs) > 0 {
			continue
		}
		valid++
		if errs := append(Validate(defaulted(written)), ValidateUpdate(defaulted(cp), written)...); len(errs) > 0 {
			t.Fatalf("seed %d: valid before, now %v", seed, errs)
		}
	}
	if valid < randomControlPlanes/2 {
		t.Errorf("only %d of %d objects were valid, which shows little", valid, randomControlPlanes)
	}
}
