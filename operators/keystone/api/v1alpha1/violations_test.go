package v1alpha1

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// violation is one change to a valid Keystone that breaks one rule.
type violation apitest.Violation[*Keystone]

func violations() []violation {
	return append(append(append(coreViolations(), keyViolations()...), configViolations()...), workloadViolations()...)
}

func coreViolations() []violation {
	return []violation{
		{
			"a name that no Service can have", func(k *Keystone) { k.Name = "1.keystone" },
			"metadata.name", "name must start with a letter", "name must start with a letter", "Invalid value",
		},
		{
			"a name too long for a CronJob", func(k *Keystone) { k.Name = strings.Repeat("k", 35) },
			"metadata.name", "name must be no longer than 34 characters", "name must be no longer than 34 characters", "Invalid value",
		},
		{
			"a name too long for the password rotation's CronJob", func(k *Keystone) {
				k.Name = strings.Repeat("k", 31)
				k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true}
			},
			"metadata.name", "name must be no longer than 30 characters with passwordRotation", "", "",
		},
		{
			"negative replicas", func(k *Keystone) { k.Spec.Replicas = -1 },
			"spec.replicas", "replicas must be at least 1", apitest.TooSmall, "",
		},
		{
			"no image name", func(k *Keystone) { k.Spec.Image.Repository = "" },
			"spec.image.repository", "Required value", apitest.TooShort, "",
		},
		{
			"an image name with a tag", func(k *Keystone) { k.Spec.Image.Repository = "example.com/keystone:2025.2" },
			"spec.image.repository", "must be an image name without a tag", apitest.NoMatch, "",
		},
		{
			"an image name in upper case", func(k *Keystone) { k.Spec.Image.Repository = "example.com/Keystone" },
			"spec.image.repository", "must be an image name without a tag", apitest.NoMatch, "",
		},
		{
			"no image tag", func(k *Keystone) { k.Spec.Image.Tag = "" },
			"spec.image.tag", "Required value", apitest.NoMatch, "",
		},
		{
			"an image tag with a slash", func(k *Keystone) { k.Spec.Image.Tag = "2025/2" },
			"spec.image.tag", "must be at most 128", apitest.NoMatch, "",
		},
		{
			"a database in both modes", func(k *Keystone) { k.Spec.Database.ClusterRef = &corev1.LocalObjectReference{Name: "mariadb"} },
			"spec.database", "exactly one of clusterRef or host must be set", "exactly one of clusterRef or host must be set", "",
		},
		{
			"a database in no mode", func(k *Keystone) { k.Spec.Database.Host = "" },
			"spec.database", "exactly one of clusterRef or host must be set", "exactly one of clusterRef or host must be set", "",
		},
		{
			"a database cluster without a name", func(k *Keystone) {
				k.Spec.Database.Host = ""
				k.Spec.Database.ClusterRef = &corev1.LocalObjectReference{}
			},
			"spec.database.clusterRef.name", "clusterRef.name must not be empty", "clusterRef.name must not be empty", "spec.database",
		},
		{
			"a database host with credentials", func(k *Keystone) { k.Spec.Database.Host = "user:secret@db" },
			"spec.database.host", "must be a host name or an IP address", apitest.NoMatch, "",
		},
		{
			"a database host with a port", func(k *Keystone) { k.Spec.Database.Host = "db:3306" },
			"spec.database.host", "must be a host name or an IP address", apitest.NoMatch, "",
		},
		{
			"a database port out of range", func(k *Keystone) { k.Spec.Database.Port = 65536 },
			"spec.database.port", "must be between 1 and 65535", apitest.TooLarge, "",
		},
		{
			"no database name", func(k *Keystone) { k.Spec.Database.Database = "" },
			"spec.database.database", "Required value", apitest.TooShort, "",
		},
		{
			"a database name with a dash", func(k *Keystone) { k.Spec.Database.Database = "key-stone" },
			"spec.database.database", "must be 1 to 64 letters, digits and '_'", apitest.NoMatch, "",
		},
		{
			"a database name that is too long", func(k *Keystone) { k.Spec.Database.Database = strings.Repeat("k", 65) },
			"spec.database.database", "must be 1 to 64 letters, digits and '_'", "Too long", "",
		},
		{
			"no database Secret", func(k *Keystone) { k.Spec.Database.SecretRef.Name = "" },
			"spec.database.secretRef.name", "Required value", apitest.TooShort, "",
		},
		{
			"a database Secret that cannot exist", func(k *Keystone) { k.Spec.Database.SecretRef.Name = "Keystone_DB" },
			"spec.database.secretRef.name", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"a key no Secret can have", func(k *Keystone) { k.Spec.Database.SecretRef.Key = "pass word" },
			"spec.database.secretRef.key", "a valid config key must consist of", apitest.NoMatch, "",
		},
		{
			"an unknown database TLS mode", func(k *Keystone) { k.Spec.Database.TLS = &commonv1.DatabaseTLSSpec{Mode: "disable"} },
			"spec.database.tls.mode", "Unsupported value", "Unsupported value", "",
		},
		{
			"database TLS without a CA", func(k *Keystone) {
				k.Spec.Database.TLS = &commonv1.DatabaseTLSSpec{Enabled: true, ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "client"}}
			},
			"spec.database.tls.caBundleSecretRef", "caBundleSecretRef is required when tls is enabled",
			"caBundleSecretRef is required when tls is enabled", "spec.database.tls",
		},
		{
			"database TLS without a client certificate", func(k *Keystone) {
				k.Spec.Database.TLS = &commonv1.DatabaseTLSSpec{Enabled: true, CABundleSecretRef: &commonv1.SecretRefSpec{Name: "ca"}}
			},
			"spec.database.tls.clientCertSecretRef", "clientCertSecretRef is required when tls is enabled",
			"clientCertSecretRef is required when tls is enabled", "spec.database.tls",
		},
		{
			"a cache in both modes", func(k *Keystone) { k.Spec.Cache.ClusterRef = &corev1.LocalObjectReference{Name: "memcached"} },
			"spec.cache", "exactly one of clusterRef or servers must be set", "exactly one of clusterRef or servers must be set", "",
		},
		{
			"a cache in no mode", func(k *Keystone) { k.Spec.Cache.Servers = nil },
			"spec.cache", "exactly one of clusterRef or servers must be set", "exactly one of clusterRef or servers must be set", "",
		},
		{
			"a cache cluster without a name", func(k *Keystone) {
				k.Spec.Cache = commonv1.CacheSpec{ClusterRef: &corev1.LocalObjectReference{}}
			},
			"spec.cache.clusterRef.name", "clusterRef.name must not be empty", "clusterRef.name must not be empty", "spec.cache",
		},
		{
			"a cache backend with a line break", func(k *Keystone) { k.Spec.Cache.Backend = "x\n[DEFAULT]" },
			"spec.cache.backend", "must be the name of a dogpile.cache backend", apitest.NoMatch, "",
		},
		{
			"two cache servers in one entry", func(k *Keystone) { k.Spec.Cache.Servers = []string{"a:11211,b:11211"} },
			"spec.cache.servers[0]", "without white space or commas", apitest.NoMatch, "",
		},
		{
			"negative cache replicas", func(k *Keystone) { k.Spec.Cache.Replicas = -1 },
			"spec.cache.replicas", "replicas must be at least 1", apitest.TooSmall, "",
		},
	}
}

func keyViolations() []violation {
	return []violation{
		{
			"a fernet schedule that is no cron expression", func(k *Keystone) { k.Spec.Fernet.RotationSchedule = "weekly" },
			"spec.fernet.rotationSchedule", "invalid cron expression", "", "",
		},
		{
			"a fernet schedule with a time zone", func(k *Keystone) { k.Spec.Fernet.RotationSchedule = "TZ=UTC 0 0 * * 0" },
			"spec.fernet.rotationSchedule", "invalid cron expression", "", "",
		},
		{
			"too few fernet keys", func(k *Keystone) {
				k.Spec.Fernet = FernetSpec{RotationSchedule: DefaultRotationSchedule, MaxActiveKeys: 2}
			},
			"spec.fernet.maxActiveKeys", "maxActiveKeys must be at least 3", apitest.TooSmall, "",
		},
		{
			"a credential key schedule that is no cron expression", func(k *Keystone) { k.Spec.CredentialKeys.RotationSchedule = "0 0 * *" },
			"spec.credentialKeys.rotationSchedule", "invalid cron expression", "", "",
		},
		{
			"too few credential keys", func(k *Keystone) {
				k.Spec.CredentialKeys = CredentialKeysSpec{RotationSchedule: DefaultRotationSchedule, MaxActiveKeys: 1}
			},
			"spec.credentialKeys.maxActiveKeys", "maxActiveKeys must be at least 3", apitest.TooSmall, "",
		},
		{
			"a trust flush schedule that is no cron expression", func(k *Keystone) { k.Spec.TrustFlush = &TrustFlushSpec{Schedule: "60 * * * *"} },
			"spec.trustFlush.schedule", "invalid cron expression", "", "",
		},
		{
			"no administrator password", func(k *Keystone) { k.Spec.Bootstrap.AdminPasswordSecretRef.Name = "" },
			"spec.bootstrap.adminPasswordSecretRef.name", "Required value", apitest.TooShort, "",
		},
		{
			"a public endpoint of another protocol", func(k *Keystone) { k.Spec.Bootstrap.PublicEndpoint = "ftp://keystone.example.com" },
			"spec.bootstrap.publicEndpoint", "must be a URL", apitest.NoMatch, "",
		},
		{
			"a public endpoint without a host", func(k *Keystone) { k.Spec.Bootstrap.PublicEndpoint = "https:///v3" },
			"spec.bootstrap.publicEndpoint", "must be a URL", "", "",
		},
		{
			"a public endpoint with another host than the Gateway's", func(k *Keystone) {
				k.Spec.Gateway = gateway("keystone.example.com")
				k.Spec.Bootstrap.PublicEndpoint = "https://identity.example.com/v3"
			},
			"spec.bootstrap.publicEndpoint", "publicEndpoint must be an https URL with the host of gateway.hostname",
			"publicEndpoint must be an https URL with the host of gateway.hostname", "",
		},
		{
			"a public endpoint without TLS behind a Gateway", func(k *Keystone) {
				k.Spec.Gateway = gateway("keystone.example.com")
				k.Spec.Bootstrap.PublicEndpoint = "http://keystone.example.com/v3"
			},
			"spec.bootstrap.publicEndpoint", "publicEndpoint must be an https URL with the host of gateway.hostname",
			"publicEndpoint must be an https URL with the host of gateway.hostname", "",
		},
		{
			"a password schedule that is no cron expression", func(k *Keystone) {
				k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true, Schedule: "monthly"}
			},
			"spec.bootstrap.passwordRotation.schedule", "invalid cron expression", "", "",
		},
		{
			"a password that is too short", func(k *Keystone) {
				k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true, PasswordLength: 23}
			},
			"spec.bootstrap.passwordRotation.passwordLength", "passwordLength must be at least 24", apitest.TooSmall, "",
		},
		{
			"a password that is too long", func(k *Keystone) {
				k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true, PasswordLength: 1025}
			},
			"spec.bootstrap.passwordRotation.passwordLength", "passwordLength must be at most 1024", apitest.TooLarge, "",
		},
	}
}
