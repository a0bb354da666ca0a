package v1alpha1

import (
	"strings"
	"testing"
	"time"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// accepted are objects at the edge of what is allowed.
func accepted() map[string]func(*ControlPlane) {
	return map[string]func(*ControlPlane){
		"the longest name":    func(cp *ControlPlane) { cp.Name = strings.Repeat("c", 25) },
		"a long name without": func(cp *ControlPlane) { cp.Name, cp.Spec.Services = "1."+strings.Repeat("c", 60), ServicesSpec{} },
		"an external database": func(cp *ControlPlane) {
			cp.Spec.Infrastructure.Database.DatabaseSpec = externalDatabase()
			cp.Spec.Infrastructure.Database.Replicas = new(int32(2))
		},
		"five database servers": func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Replicas = new(int32(5)) },
		"an external cache": func(cp *ControlPlane) {
			cp.Spec.Infrastructure.Cache.CacheSpec = commonv1.CacheSpec{Servers: []string{"memcached"}}
		},
		"one database server":  func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Replicas = new(int32(1)) },
		"a small database":     sized("512Mi"),
		"a size that is empty": sized(""),
		"an image": ofService(func(k *ServiceKeystoneSpec) {
			k.Image = &commonv1.ImageSpec{Repository: "registry.example.com:5000/keystone", Tag: "2025.2-upgraded"}
		}),
		"a rotation a day":         interval(24 * time.Hour),
		"a rotation every nine":    interval(9 * 24 * time.Hour),
		"an endpoint with a port":  ofService(published("https://keystone.example.com:8443/v3")),
		"an endpoint of the route": ofService(published("")),
		"a name of a Placement's Secret without it": func(cp *ControlPlane) {
			cp.Spec.Services.Placement = nil
			clouds("controlplane-placement-any")(cp)
		},
		"a backup in a claim": backedUp(inClaim("backups")),
		"global rules": func(cp *ControlPlane) {
			cp.Spec.Global = &GlobalSpec{PolicySpec: commonv1.PolicySpec{Rules: map[string]string{"identity:list_users": "role:reader"}}}
		},
		"global options alone":         globally("DEFAULT", "debug", "true"),
		"a credential that may do all": ofCredential(func(c *AdminCredentialSpec) { c.ApplicationCredential.Restricted = new(false) }),
		"an access rule":               accessRule(AccessRule{Service: "compute", Method: "GET", Path: "/v2.1/servers"}),
		"a rotation on request":        ofCredential(func(c *AdminCredentialSpec) { c.ApplicationCredential.Rotation.Mode = RotationManual }),
		"resources of the same name": bootstrap(
			BootstrapResourceSpec{Kind: BootstrapKindProject, Name: "admin"}, BootstrapResourceSpec{Kind: BootstrapKindRole, Name: "admin"},
		),
	}
}

func published(endpoint string) func(*ServiceKeystoneSpec) {
	return func(k *ServiceKeystoneSpec) { k.Gateway, k.PublicEndpoint = gateway("keystone.example.com"), endpoint }
}

// immutableChanges are the changes of a stored ControlPlane that are refused.
func immutableChanges() []violation {
	return []violation{
		{Name: "region", Change: func(cp *ControlPlane) { cp.Spec.Region = "RegionTwo" }, Path: "spec.region", Message: "region is immutable"},
		{
			Name: "database mode", Change: func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.DatabaseSpec = externalDatabase() },
			Path: databasePath, Message: "database mode (managed clusterRef vs brownfield host) is immutable",
		},
		{
			Name: "database cluster", Change: func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.ClusterRef = named("other") },
			Path: databasePath + ".clusterRef.name", Message: "database clusterRef.name is immutable",
		},
		{
			Name: "database name", Change: func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Database = "other" },
			Path: databasePath + ".database", Message: "database name is immutable",
		},
		{
			Name: "database servers", Change: func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Replicas = new(int32(1)) },
			Path: databasePath + ".replicas", Message: "database replicas is immutable",
		},
		{Name: "database size", Change: sized("1Gi"), Path: databasePath + ".storageSize", Message: "database storageSize is immutable"},
		{
			Name: "storage class", Change: func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.StorageClassName = "other" },
			Path: databasePath + ".storageClassName", Message: "database storageClassName is immutable",
		},
		{
			Name: "cache mode", Change: func(cp *ControlPlane) {
				cp.Spec.Infrastructure.Cache.CacheSpec = commonv1.CacheSpec{Servers: []string{"memcached"}}
			},
			Path: cachePath, Message: "cache mode (managed clusterRef vs brownfield servers) is immutable",
		},
		{
			Name: "cache cluster", Change: func(cp *ControlPlane) { cp.Spec.Infrastructure.Cache.ClusterRef = named("other") },
			Path: cachePath + ".clusterRef.name", Message: "cache clusterRef.name is immutable",
		},
		{
			Name: "database of Placement", Change: ofPlacementDatabase(func(d *PlacementDatabaseSpec) { d.Database = "other" }),
			Path: placementPath + ".database.database", Message: "database name is immutable",
		},
		{
			Name: "database of Glance", Change: ofGlanceDatabase(func(d *GlanceDatabaseSpec) { d.Database = "other" }),
			Path: glancePath + ".database.database", Message: "database name is immutable",
		},
		{
			Name: "bucket of a backend", Change: ofBackend(func(b *ServiceGlanceBackendSpec) { b.S3.Bucket = "others" }),
			Path: glancePath + ".backends[0].type", Message: "the type, the bucket and the claim cannot be changed",
		},
		{
			Name: "place of a secret store", Change: ofSecretStore(func(s *ServiceBarbicanSecretStoreSpec) { s.Vault.KVMountpoint = "other" }),
			Path: barbicanPath + ".secretStores[0].vault.kvMountpoint", Message: "the mount point and the namespace cannot be changed",
		},
		{
			Name:   "domain of an identity backend",
			Change: ofIdentityBackend(func(b *ServiceKeystoneIdentityBackendSpec) { b.Domain.Name = "others" }),
			Path:   keystonePath + ".identityBackends[0].domain", Message: "the name and the mode cannot be changed",
		},
		{
			Name: "type of an identity backend", Change: atProvider(func(*ServiceKeystoneIdentityBackendSpec) {}),
			Path:    keystonePath + ".identityBackends[0].type",
			Message: "the type and the names of the identity provider and of the protocol cannot be changed",
		},
		{Name: "clouds.yaml", Change: clouds("other"), Path: cloudsPath, Message: "secretName is immutable"},
		{
			Name: "release", Change: func(cp *ControlPlane) { cp.Spec.OpenStackRelease = "2025.1" },
			Path: "spec.openStackRelease", Message: "openStackRelease must not go back: database migrations only go forward",
		},
	}
}

// mutableChanges are changes of a stored ControlPlane that look like refused
// ones.
func mutableChanges() map[string]func(*ControlPlane) {
	return map[string]func(*ControlPlane){
		"another spelling of the size":    sized("102400Mi"),
		"the default size, written out":   sized("100Gi"),
		"the default number, written out": func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Replicas = new(int32(3)) },
		"another image of the database":   func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Image = "mariadb:11.8" },
		"more cache servers":              func(cp *ControlPlane) { cp.Spec.Infrastructure.Cache.Replicas = 5 },
		"the next release":                func(cp *ControlPlane) { cp.Spec.OpenStackRelease = "2026.1" },
		"another cloud":                   ofCredential(func(c *AdminCredentialSpec) { c.CloudCredentialsRef.CloudName = "other" }),
		"no services":                     func(cp *ControlPlane) { cp.Spec.Services = ServicesSpec{} },
		"other backups":                   backedUp(func(*BackupSpec) {}),
		"another backend first":           withBackend(inVolume("other"), func(*ServiceGlanceBackendSpec) {}),
		"no backend":                      func(cp *ControlPlane) { cp.Spec.Services.Glance.Backends = nil },
		"another host of a backend":       ofBackend(func(b *ServiceGlanceBackendSpec) { b.S3.Host = "s3.example.org" }),
		"another identity backend":        withIdentityBackend(inDirectory("others")),
		"no identity backend":             ofService(func(k *ServiceKeystoneSpec) { k.IdentityBackends = nil }),
		"another directory": ofIdentityBackend(func(b *ServiceKeystoneIdentityBackendSpec) {
			b.LDAP.URLs = []string{"ldaps://ldap.example.org"}
		}),
		"no secret store":            func(cp *ControlPlane) { cp.Spec.Services.Barbican.SecretStores = nil },
		"another address of a store": ofSecretStore(func(s *ServiceBarbicanSecretStoreSpec) { s.Vault.URL = "https://vault.example.org" }),
		"no Placement":               func(cp *ControlPlane) { cp.Spec.Services.Placement = nil },
	}
}

func TestATargetReleaseCanBeLoweredToTheInstalledOne(t *testing.T) {
	for _, c := range []struct {
		name              string
		phase             UpdatePhase
		installed, target string
		want              bool
	}{
		{"to the installed release", UpdatePhaseUpdatingServices, "2025.2", "2025.2", true},
		{"again during a rollback", UpdatePhaseRollingBack, "2025.2", "2025.2", true},
		{"to a release before it", UpdatePhaseUpdatingServices, "2025.2", "2025.1", false},
		{"after the update", UpdatePhaseIdle, "2026.1", "2025.2", false},
		{"before the update began", UpdatePhaseIdle, "2025.2", "2025.2", true},
		{"to a release between a typing error and the installed one", UpdatePhaseUpdating, "2024.2", "2025.2", true},
		{"of a first installation", UpdatePhaseIdle, "", "2025.1", true},
		{"to the release of another build", UpdatePhaseUpdatingServices, "2025.2-rebuilt", "2025.2", true},
		{"below another build", UpdatePhaseUpdatingServices, "2025.2-rebuilt", "2025.1", false},
		{"below an image of no release", UpdatePhaseIdle, "latest", "2025.2", false},
		{"before the operator saw it", "", "2025.2", "2025.2", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := completed()
			old.Spec.OpenStackRelease = "2026.1"
			old.Status.UpdatePhase = c.phase
			old.Status.Services = []ServiceStatus{{Name: "keystone", Release: c.installed}}
			updated := old.DeepCopy()
			updated.Spec.OpenStackRelease = c.target
			if errs := ValidateUpdate(old, updated); (len(errs) == 0) != c.want {
				t.Errorf("want accepted %t, got %v", c.want, errs)
			}
		})
	}
}

func TestAnInvalidDatabaseReplicaCountCanBeCorrected(t *testing.T) {
	old, updated := completed(), completed()
	old.Spec.Infrastructure.Database.Replicas = new(int32(2))
	if errs := ValidateUpdate(old, updated); len(errs) > 0 {
		t.Errorf("refused: %v", errs)
	}
}

func TestTheReleaseCanBeLoweredBeforeInstallationIfKeystoneIsSet(t *testing.T) {
	old := completed()
	old.Status.UpdatePhase = UpdatePhaseIdle
	updated := old.DeepCopy()
	updated.Spec.OpenStackRelease = "2025.1"
	if errs := ValidateUpdate(old, updated); len(errs) > 0 {
		t.Errorf("refused while the Keystone is still to be made: %v", errs)
	}
	old.Spec.Services.Keystone = nil
	if errs := ValidateUpdate(old, updated); len(errs) == 0 {
		t.Error("accepted though the Keystone that was left alone may have a later release")
	}
}

func TestAnIntervalIsAPositiveNumberOfDays(t *testing.T) {
	for interval, want := range map[time.Duration]int64{
		24 * time.Hour: 1, 48 * time.Hour: 2, 168 * time.Hour: 7, 0: 0, -24 * time.Hour: 0, 25 * time.Hour: 0,
		24*time.Hour + time.Nanosecond: 0,
	} {
		if got, ok := RotationDays(*every(interval)); got != want || ok != (want > 0) {
			t.Errorf("%s: got %d days (%t), expected %d", interval, got, ok, want)
		}
	}
}
