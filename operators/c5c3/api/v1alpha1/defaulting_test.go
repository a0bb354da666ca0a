package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestAMinimalControlPlaneGetsEveryDefault(t *testing.T) {
	want := minimal().Spec
	want.Region = "RegionOne"
	want.Infrastructure = InfrastructureSpec{
		Database: InfrastructureDatabaseSpec{DatabaseSpec: commonv1.DatabaseSpec{
			ClusterRef: named("openstack-db"), Database: "keystone", SecretRef: commonv1.SecretRefSpec{Name: "keystone-db"},
		}},
		Cache: InfrastructureCacheSpec{
			CacheSpec: commonv1.CacheSpec{ClusterRef: named("openstack-memcached"), Backend: "dogpile.cache.pymemcache", Replicas: 3},
		},
	}
	want.ServiceUsers = ServiceUsersSpec{Authentication: AuthenticationPassword, CredentialDays: 30}
	want.KORC.AdminCredential = AdminCredentialSpec{
		CloudCredentialsRef:   CloudCredentialsRef{CloudName: "admin", SecretName: "k-orc-clouds-yaml"},
		PasswordSecretRef:     commonv1.SecretRefSpec{Name: "keystone-admin", Key: "password"},
		ApplicationCredential: ApplicationCredentialSpec{Restricted: new(true), Rotation: RotationSpec{Mode: RotationPasswordDriven}},
	}
	if diff := cmp.Diff(want, completed().Spec); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDefaultsDoNotReplaceAnExternalServerWithAManagedOne(t *testing.T) {
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

func TestSettingOnlyASizeKeepsTheOtherDatabaseDefaults(t *testing.T) {
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
	cp.Spec.Infrastructure.Cache.CacheSpec = commonv1.CacheSpec{ClusterRef: named("cache"), Backend: "oslo_cache.memcache_pool", Replicas: 1}
	cp.Spec.ServiceUsers = ServiceUsersSpec{Authentication: AuthenticationApplicationCredential, CredentialDays: 7}
	cp.Spec.KORC.AdminCredential = AdminCredentialSpec{
		CloudCredentialsRef:   CloudCredentialsRef{CloudName: "cloud", SecretName: "clouds"},
		PasswordSecretRef:     commonv1.SecretRefSpec{Name: "admin", Key: "pw"},
		ApplicationCredential: ApplicationCredentialSpec{Restricted: new(false), Rotation: RotationSpec{Mode: RotationManual}},
	}
	if diff := cmp.Diff(cp.Spec, defaulted(cp).Spec); diff != "" {
		t.Errorf("-written +defaulted:\n%s", diff)
	}
}
