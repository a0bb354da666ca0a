package v1alpha1

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// violation is one change to a valid ControlPlane that breaks one rule.
type violation apitest.Violation[*ControlPlane]

const (
	databasePath   = "spec.infrastructure.database"
	cachePath      = "spec.infrastructure.cache"
	keystonePath   = "spec.services.keystone"
	barbicanPath   = "spec.services.barbican"
	placementPath  = "spec.services.placement"
	glancePath     = "spec.services.glance"
	horizonPath    = "spec.services.horizon"
	credentialPath = "spec.korc.adminCredential"
	cloudsPath     = credentialPath + ".cloudCredentialsRef.secretName"
	accessRulePath = credentialPath + ".applicationCredential.accessRules[0]"

	oneDatabase = "exactly one of clusterRef or host must be set"
	oneCache    = "exactly one of clusterRef or servers must be set"
	otherSecret = "secretName must not be the name of another Secret of the control plane"
	wholeDays   = "rotationInterval must be a positive multiple of 24h"
)

func violations() []violation {
	return slices.Concat(
		infrastructureViolations(), serviceViolations("Keystone", keystonePath, ofKeystone),
		serviceViolations("Barbican", barbicanPath, ofBarbican), apiViolations("Barbican", barbicanPath, ofBarbican, barbicanAPI),
		serviceViolations("Placement", placementPath, ofPlacement), serviceViolations("Horizon", horizonPath, ofHorizon),
		serviceViolations("Glance", glancePath, ofGlance), apiViolations("Glance", glancePath, ofGlance, glanceAPI),
		keystoneViolations(), barbicanViolations(), placementViolations(), glanceViolations(), backendViolations(), secretStoreViolations(),
		horizonViolations(), identityBackendViolations(),
		apiViolations("Keystone", keystonePath, ofKeystone, keystoneAPI), apiViolations("Placement", placementPath, ofPlacement, placementAPI),
		globalViolations(), serviceUserViolations(), credentialViolations(), backupViolations(),
	)
}

func infrastructureViolations() []violation {
	return []violation{
		{
			"a name that no Service can have", func(cp *ControlPlane) { cp.Name = "1.control" },
			"metadata.name", "name must start with a letter", "name must start with a letter", "Invalid value",
		},
		{
			"a name too long for the Keystone", func(cp *ControlPlane) { cp.Name = strings.Repeat("c", 26) },
			"metadata.name", "name must be no longer than 25 characters", "name must be no longer than 25 characters", "Invalid value",
		},
		{
			"no release", func(cp *ControlPlane) { cp.Spec.OpenStackRelease = "" },
			"spec.openStackRelease", "must be an OpenStack release", apitest.NoMatch, "",
		},
		{
			"a release with a suffix", func(cp *ControlPlane) { cp.Spec.OpenStackRelease = "2025.2-rc1" },
			"spec.openStackRelease", "must be an OpenStack release", apitest.NoMatch, "",
		},
		{
			"a release by its name", func(cp *ControlPlane) { cp.Spec.OpenStackRelease = "flamingo" },
			"spec.openStackRelease", "must be an OpenStack release", apitest.NoMatch, "",
		},
		{
			"a region that is too long", func(cp *ControlPlane) { cp.Spec.Region = strings.Repeat("r", 256) },
			"spec.region", "Too long", "Too long", "",
		},
		{
			"an unknown deletion policy", func(cp *ControlPlane) { cp.Spec.DeletionPolicy = "Orphan" },
			"spec.deletionPolicy", "Unsupported value", "Unsupported value", "",
		},
		{
			"too many database servers", func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Replicas = new(int32(17)) },
			databasePath + ".replicas", "replicas must be at most 15", apitest.TooLarge, "",
		},
		{
			"too many memcached servers", func(cp *ControlPlane) { cp.Spec.Infrastructure.Cache.Replicas = 101 },
			cachePath + ".replicas", "replicas must be at most 100", apitest.TooLarge, "",
		},
		{
			"a database in both modes", func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Host = "db.example.com" },
			databasePath, oneDatabase, oneDatabase, "",
		},
		{
			"a database host with a port", func(cp *ControlPlane) {
				cp.Spec.Infrastructure.Database.DatabaseSpec = externalDatabase()
				cp.Spec.Infrastructure.Database.Host = "db:3306"
			},
			databasePath + ".host", "must be a host name or an IP address", apitest.NoMatch, "",
		},
		{
			"a database name with a dash", func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Database = "key-stone" },
			databasePath + ".database", "must be 1 to 64 letters", apitest.NoMatch, "",
		},
		{
			"no database servers", func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Replicas = new(int32(0)) },
			databasePath + ".replicas", "replicas must be at least 1", apitest.TooSmall, "",
		},
		{
			"an even number of database servers", func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Replicas = new(int32(2)) },
			databasePath + ".replicas", "replicas must be an odd number", "replicas must be an odd number", "",
		},
		{
			"a size that is no quantity", sized("plenty"),
			databasePath + ".storageSize", "storageSize must be a positive quantity", "storageSize must be a positive quantity", "",
		},
		{
			"a size of nothing", sized("0"),
			databasePath + ".storageSize", "storageSize must be a positive quantity", "storageSize must be a positive quantity", "",
		},
		{
			"a StorageClass in capitals", func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.StorageClassName = "Fast" },
			databasePath + ".storageClassName", "must be the name of a StorageClass", apitest.NoMatch, "",
		},
		{
			"an image of the database with a space", func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.Image = "mariadb :11.8" },
			databasePath + ".image", "must be an image with its tag", apitest.NoMatch, "",
		},
		{
			"a pull secret of the database without a name", func(cp *ControlPlane) {
				cp.Spec.Infrastructure.Database.ImagePullSecrets = []corev1.LocalObjectReference{{}}
			},
			databasePath + ".imagePullSecrets[0].name", "name the Secret with which the image is pulled",
			"name the Secret with which the image is pulled", databasePath + ".imagePullSecrets",
		},
		{
			"a pull secret of the database twice", func(cp *ControlPlane) {
				cp.Spec.Infrastructure.Database.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}, {Name: "registry"}}
			},
			databasePath + ".imagePullSecrets[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			"an image of the cache with a line break", func(cp *ControlPlane) { cp.Spec.Infrastructure.Cache.Image = "memcached\n:1.6" },
			cachePath + ".image", "must be an image with its tag", apitest.NoMatch, "",
		},
		{
			"database TLS without a CA", func(cp *ControlPlane) {
				cp.Spec.Infrastructure.Database.TLS = &commonv1.DatabaseTLSSpec{
					Enabled: true, ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "client"},
				}
			},
			databasePath + ".tls.caBundleSecretRef", "caBundleSecretRef is required", "caBundleSecretRef is required", databasePath + ".tls",
		},
		{
			"database TLS without a client certificate", func(cp *ControlPlane) {
				cp.Spec.Infrastructure.Database.TLS = &commonv1.DatabaseTLSSpec{Enabled: true, CABundleSecretRef: &commonv1.SecretRefSpec{Name: "ca"}}
			},
			databasePath + ".tls.clientCertSecretRef", "clientCertSecretRef is required", "clientCertSecretRef is required", databasePath + ".tls",
		},
		{
			"an unknown TLS mode", func(cp *ControlPlane) {
				cp.Spec.Infrastructure.Database.TLS = &commonv1.DatabaseTLSSpec{Mode: "always"}
			},
			databasePath + ".tls.mode", "Unsupported value", "Unsupported value", "",
		},
		{
			"a cache in both modes", func(cp *ControlPlane) { cp.Spec.Infrastructure.Cache.Servers = []string{"memcached:11211"} },
			cachePath, oneCache, oneCache, "",
		},
		{
			"a cache backend with a line break", func(cp *ControlPlane) { cp.Spec.Infrastructure.Cache.Backend = "x\n[DEFAULT]" },
			cachePath + ".backend", "must be the name of a dogpile.cache backend", apitest.NoMatch, "",
		},
		{
			"two cache servers in one entry", func(cp *ControlPlane) {
				cp.Spec.Infrastructure.Cache.CacheSpec = commonv1.CacheSpec{Servers: []string{"a:11211,b:11211"}}
			},
			cachePath + ".servers[0]", "without white space or commas", apitest.NoMatch, "",
		},
		{
			"no cache servers", func(cp *ControlPlane) { cp.Spec.Infrastructure.Cache.Replicas = -1 },
			cachePath + ".replicas", "replicas must be at least 1", apitest.TooSmall, "",
		},
	}
}

// mendedViolations are what the operator fills in before it looks at it.
func mendedViolations() []violation {
	const message = "clusterRef.name must not be empty"
	return []violation{
		{
			"a database cluster without a name", func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.ClusterRef.Name = "" },
			databasePath, "", message, "",
		},
		{
			"a cache cluster without a name", func(cp *ControlPlane) { cp.Spec.Infrastructure.Cache.ClusterRef.Name = "" },
			cachePath, "", message, "",
		},
	}
}

func sized(size string) func(*ControlPlane) {
	return func(cp *ControlPlane) { cp.Spec.Infrastructure.Database.StorageSize = size }
}

func credentialViolations() []violation {
	return []violation{
		{
			"a cloud's name that is too long", ofCredential(func(c *AdminCredentialSpec) {
				c.CloudCredentialsRef.CloudName = strings.Repeat("c", 257)
			}),
			credentialPath + ".cloudCredentialsRef.cloudName", "Too long", "Too long", "",
		},
		{
			"a clouds.yaml in a Secret that cannot exist", clouds("Clouds_YAML"),
			cloudsPath, "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{"a clouds.yaml over the application credential", clouds("controlplane-admin-app-credential"), cloudsPath, otherSecret, otherSecret, ""},
		{"a clouds.yaml over K-ORC's password", clouds("controlplane-admin-password-cloud"), cloudsPath, otherSecret, otherSecret, ""},
		{"a clouds.yaml over the database's password", clouds("controlplane-keystone-db-credentials"), cloudsPath, otherSecret, otherSecret, ""},
		{
			"a clouds.yaml over the administrator's password", clouds("controlplane-keystone-admin-credentials"),
			cloudsPath, otherSecret, otherSecret, "",
		},
		{"a clouds.yaml over the given password", clouds("keystone-admin"), cloudsPath, otherSecret, otherSecret, ""},
		{"a clouds.yaml over the given database's Secret", clouds("keystone-db"), cloudsPath, otherSecret, otherSecret, ""},
		{"a clouds.yaml over a Secret of Barbican", clouds("controlplane-barbican-any"), cloudsPath, otherSecret, otherSecret, ""},
		{"a clouds.yaml over Barbican's database's Secret", clouds("barbican-db"), cloudsPath, otherSecret, otherSecret, ""},
		{"a clouds.yaml over a Secret of Placement", clouds("controlplane-placement-any"), cloudsPath, otherSecret, otherSecret, ""},
		{"a clouds.yaml over a Secret of Glance", clouds("controlplane-glance-any"), cloudsPath, otherSecret, otherSecret, ""},
		{"a clouds.yaml over Glance's database's Secret", clouds("glance-db"), cloudsPath, otherSecret, otherSecret, ""},
		{"a clouds.yaml over a Secret of Horizon", clouds("controlplane-horizon-secret-key"), cloudsPath, otherSecret, otherSecret, ""},
		{"a clouds.yaml over Placement's database's Secret", clouds("placement-db"), cloudsPath, otherSecret, otherSecret, ""},
		{
			"a password in a Secret that cannot exist", ofCredential(func(c *AdminCredentialSpec) { c.PasswordSecretRef.Name = "Keystone_Admin" }),
			credentialPath + ".passwordSecretRef.name", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"a password under an impossible key", ofCredential(func(c *AdminCredentialSpec) { c.PasswordSecretRef.Key = "pass word" }),
			credentialPath + ".passwordSecretRef.key", "a valid config key must consist of", apitest.NoMatch, "",
		},
		{
			"an unknown rotation", ofCredential(func(c *AdminCredentialSpec) { c.ApplicationCredential.Rotation.Mode = "Never" }),
			credentialPath + ".applicationCredential.rotation.mode", "Unsupported value", "Unsupported value", "",
		},
		{
			"access to no service", accessRule(AccessRule{}),
			accessRulePath + ".service", "Required value", apitest.TooShort, "",
		},
		{
			"access to a service that cannot exist", accessRule(AccessRule{Service: "Compute API"}),
			accessRulePath + ".service", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"an unknown method", accessRule(AccessRule{Service: "compute", Method: "FETCH"}),
			accessRulePath + ".method", "Unsupported value", "Unsupported value", "",
		},
		{
			"a relative path", accessRule(AccessRule{Service: "compute", Path: "servers"}),
			accessRulePath + ".path", "must begin with /", apitest.NoMatch, "",
		},
		{
			"an unknown resource", bootstrap(BootstrapResourceSpec{Kind: "User", Name: "x"}),
			credentialPath + ".bootstrapResources[0].kind", "Unsupported value", "Unsupported value", "",
		},
		{
			"a resource without a name", bootstrap(BootstrapResourceSpec{Kind: BootstrapKindRole}),
			credentialPath + ".bootstrapResources[0].name", "Required value", apitest.TooShort, "",
		},
		{
			"a resource whose name is too long", bootstrap(BootstrapResourceSpec{Kind: BootstrapKindRole, Name: strings.Repeat("r", 256)}),
			credentialPath + ".bootstrapResources[0].name", "Too long", "Too long", "",
		},
		{
			"a resource twice",
			bootstrap(BootstrapResourceSpec{Kind: BootstrapKindRole, Name: "x"}, BootstrapResourceSpec{Kind: BootstrapKindRole, Name: "x"}),
			credentialPath + ".bootstrapResources[1]", "Duplicate value", "Duplicate value", "",
		},
	}
}

func serviceUserViolations() []violation {
	const path = "spec.serviceUsers"
	days := func(n int32) func(*ControlPlane) {
		return func(cp *ControlPlane) { cp.Spec.ServiceUsers.CredentialDays = n }
	}
	return []violation{
		{
			"an unknown authentication", func(cp *ControlPlane) { cp.Spec.ServiceUsers.Authentication = "Certificate" },
			path + ".authentication", "Unsupported value", "Unsupported value", "",
		},
		{"credentials without a lifetime", days(-1), path + ".credentialDays", "credentialDays must be at least 1", apitest.TooSmall, ""},
		{"credentials for life", days(3651), path + ".credentialDays", "credentialDays must be at most 3650", apitest.TooLarge, ""},
	}
}

func ofCredential(change func(*AdminCredentialSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) { change(&cp.Spec.KORC.AdminCredential) }
}

func clouds(secret string) func(*ControlPlane) {
	return ofCredential(func(c *AdminCredentialSpec) { c.CloudCredentialsRef.SecretName = secret })
}

func accessRule(rule AccessRule) func(*ControlPlane) {
	return ofCredential(func(c *AdminCredentialSpec) { c.ApplicationCredential.AccessRules = []AccessRule{rule} })
}

func bootstrap(resources ...BootstrapResourceSpec) func(*ControlPlane) {
	return ofCredential(func(c *AdminCredentialSpec) { c.BootstrapResources = resources })
}
