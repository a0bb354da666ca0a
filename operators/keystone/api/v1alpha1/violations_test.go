package v1alpha1

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// violation is one change to a valid Keystone that breaks one rule.
type violation struct {
	name   string
	change func(*Keystone)
	// path and message are what validation in Go says.
	path, message string
	// schema is a part of what the API server says without a webhook, after
	// schemaPath if that differs from path. It is empty when the schema cannot
	// state the rule.
	schema, schemaPath string
}

func (v violation) apply() *Keystone {
	k := minimal()
	v.change(k)
	return k
}

const (
	tooSmall = "should be greater than or equal to"
	tooLarge = "should be less than or equal to"
	noMatch  = "should match"
)

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
			"spec.replicas", "replicas must be at least 1", tooSmall, "",
		},
		{
			"no image name", func(k *Keystone) { k.Spec.Image.Repository = "" },
			"spec.image.repository", "Required value", "should be at least 1 chars long", "",
		},
		{
			"an image name with a tag", func(k *Keystone) { k.Spec.Image.Repository = "example.com/keystone:2025.2" },
			"spec.image.repository", "must be an image name without a tag", noMatch, "",
		},
		{
			"an image name in upper case", func(k *Keystone) { k.Spec.Image.Repository = "example.com/Keystone" },
			"spec.image.repository", "must be an image name without a tag", noMatch, "",
		},
		{
			"no image tag", func(k *Keystone) { k.Spec.Image.Tag = "" },
			"spec.image.tag", "Required value", noMatch, "",
		},
		{
			"an image tag with a slash", func(k *Keystone) { k.Spec.Image.Tag = "2025/2" },
			"spec.image.tag", "must be at most 128", noMatch, "",
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
			"spec.database.host", "must be a host name or an IP address", noMatch, "",
		},
		{
			"a database host with a port", func(k *Keystone) { k.Spec.Database.Host = "db:3306" },
			"spec.database.host", "must be a host name or an IP address", noMatch, "",
		},
		{
			"a database port out of range", func(k *Keystone) { k.Spec.Database.Port = 65536 },
			"spec.database.port", "must be between 1 and 65535", tooLarge, "",
		},
		{
			"no database name", func(k *Keystone) { k.Spec.Database.Database = "" },
			"spec.database.database", "Required value", "should be at least 1 chars long", "",
		},
		{
			"a database name with a dash", func(k *Keystone) { k.Spec.Database.Database = "key-stone" },
			"spec.database.database", "must be 1 to 64 letters, digits and '_'", noMatch, "",
		},
		{
			"a database name that is too long", func(k *Keystone) { k.Spec.Database.Database = strings.Repeat("k", 65) },
			"spec.database.database", "must be 1 to 64 letters, digits and '_'", "Too long", "",
		},
		{
			"no database Secret", func(k *Keystone) { k.Spec.Database.SecretRef.Name = "" },
			"spec.database.secretRef.name", "Required value", "should be at least 1 chars long", "",
		},
		{
			"a database Secret that cannot exist", func(k *Keystone) { k.Spec.Database.SecretRef.Name = "Keystone_DB" },
			"spec.database.secretRef.name", "RFC 1123 subdomain", noMatch, "",
		},
		{
			"a key no Secret can have", func(k *Keystone) { k.Spec.Database.SecretRef.Key = "pass word" },
			"spec.database.secretRef.key", "a valid config key must consist of", noMatch, "",
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
			"spec.cache.backend", "must be the name of a dogpile.cache backend", noMatch, "",
		},
		{
			"two cache servers in one entry", func(k *Keystone) { k.Spec.Cache.Servers = []string{"a:11211,b:11211"} },
			"spec.cache.servers[0]", "without white space or commas", noMatch, "",
		},
		{
			"negative cache replicas", func(k *Keystone) { k.Spec.Cache.Replicas = -1 },
			"spec.cache.replicas", "replicas must be at least 1", tooSmall, "",
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
			"spec.fernet.maxActiveKeys", "maxActiveKeys must be at least 3", tooSmall, "",
		},
		{
			"a credential key schedule that is no cron expression", func(k *Keystone) { k.Spec.CredentialKeys.RotationSchedule = "0 0 * *" },
			"spec.credentialKeys.rotationSchedule", "invalid cron expression", "", "",
		},
		{
			"too few credential keys", func(k *Keystone) {
				k.Spec.CredentialKeys = CredentialKeysSpec{RotationSchedule: DefaultRotationSchedule, MaxActiveKeys: 1}
			},
			"spec.credentialKeys.maxActiveKeys", "maxActiveKeys must be at least 3", tooSmall, "",
		},
		{
			"a trust flush schedule that is no cron expression", func(k *Keystone) { k.Spec.TrustFlush = &TrustFlushSpec{Schedule: "60 * * * *"} },
			"spec.trustFlush.schedule", "invalid cron expression", "", "",
		},
		{
			"no administrator password", func(k *Keystone) { k.Spec.Bootstrap.AdminPasswordSecretRef.Name = "" },
			"spec.bootstrap.adminPasswordSecretRef.name", "Required value", "should be at least 1 chars long", "",
		},
		{
			"a public endpoint of another protocol", func(k *Keystone) { k.Spec.Bootstrap.PublicEndpoint = "ftp://keystone.example.com" },
			"spec.bootstrap.publicEndpoint", "must be a URL", noMatch, "",
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
			"spec.bootstrap.passwordRotation.passwordLength", "passwordLength must be at least 24", tooSmall, "",
		},
		{
			"a password that is too long", func(k *Keystone) {
				k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true, PasswordLength: 1025}
			},
			"spec.bootstrap.passwordRotation.passwordLength", "passwordLength must be at most 1024", tooLarge, "",
		},
	}
}

func configViolations() []violation {
	return []violation{
		{
			"two plugins in one section", func(k *Keystone) {
				k.Spec.Plugins = []commonv1.PluginSpec{{Name: "a", ConfigSection: "keycloak"}, {Name: "b", ConfigSection: "keycloak"}}
			},
			"spec.plugins[1].configSection", "Duplicate value", "Duplicate value", "spec.plugins[1]",
		},
		{
			"a plugin without a name", func(k *Keystone) { k.Spec.Plugins = []commonv1.PluginSpec{{ConfigSection: "keycloak"}} },
			"spec.plugins[0].name", "Required value", "should be at least 1 chars long", "",
		},
		{
			"a plugin section that closes its header", func(k *Keystone) {
				k.Spec.Plugins = []commonv1.PluginSpec{{Name: "a", ConfigSection: "x]\n[DEFAULT"}}
			},
			"spec.plugins[0].configSection", "square brackets", "", "",
		},
		{
			"a plugin option with a line break", func(k *Keystone) {
				k.Spec.Plugins = []commonv1.PluginSpec{{Name: "a", ConfigSection: "x", Config: map[string]string{"a": "b\nc = d"}}}
			},
			"spec.plugins[0].config[a]", "must not contain a line break", "", "",
		},
		{
			"two middlewares of one name", func(k *Keystone) { k.Spec.Middleware = []commonv1.MiddlewareSpec{filter("audit"), filter("audit")} },
			"spec.middleware[1].name", "Duplicate value", "Duplicate value", "spec.middleware[1]",
		},
		{
			"a middleware with a built-in name", func(k *Keystone) { k.Spec.Middleware = []commonv1.MiddlewareSpec{filter("cors")} },
			"spec.middleware[0].name", "belongs to a built-in part", "", "",
		},
		{
			"a middleware name with a space", func(k *Keystone) { k.Spec.Middleware = []commonv1.MiddlewareSpec{filter("my audit")} },
			"spec.middleware[0].name", "name must consist of", noMatch, "",
		},
		{
			"a middleware factory that is no callable", func(k *Keystone) {
				k.Spec.Middleware = []commonv1.MiddlewareSpec{{Name: "audit", FilterFactory: "audit", Position: commonv1.PipelineAfter}}
			},
			"spec.middleware[0].filterFactory", "must have the form module:callable", noMatch, "",
		},
		{
			"a middleware in no position", func(k *Keystone) {
				k.Spec.Middleware = []commonv1.MiddlewareSpec{{Name: "audit", FilterFactory: "audit:factory", Position: "middle"}}
			},
			"spec.middleware[0].position", "Unsupported value", "Unsupported value", "",
		},
		{
			"a middleware option with a line break", func(k *Keystone) {
				audit := filter("audit")
				audit.Config = map[string]string{"a": "b\r\n[filter:x]"}
				k.Spec.Middleware = []commonv1.MiddlewareSpec{audit}
			},
			"spec.middleware[0].config[a]", "must not contain a line break", "", "",
		},
		{
			"a middleware option that replaces its factory", func(k *Keystone) {
				audit := filter("audit")
				audit.Config = map[string]string{"use": "egg:other"}
				k.Spec.Middleware = []commonv1.MiddlewareSpec{audit}
			},
			"spec.middleware[0].config", "would replace the filter factory", "", "",
		},
		{
			"policy overrides without a source", func(k *Keystone) { k.Spec.PolicyOverrides = &commonv1.PolicySpec{} },
			"spec.policyOverrides", "at least one of rules or configMapRef must be set",
			"at least one of rules or configMapRef must be set", "",
		},
		{
			"a policy rule without a name", func(k *Keystone) {
				k.Spec.PolicyOverrides = &commonv1.PolicySpec{Rules: map[string]string{"": "role:admin"}}
			},
			"spec.policyOverrides.rules", "policy rule name must not be empty", "policy rule name must not be empty", "spec.policyOverrides",
		},
		{
			"a policy rule without a definition", func(k *Keystone) {
				k.Spec.PolicyOverrides = &commonv1.PolicySpec{Rules: map[string]string{"identity:list_users": ""}}
			},
			"spec.policyOverrides.rules[identity:list_users]", "policy rule value must not be empty",
			"policy rule value must not be empty", "spec.policyOverrides",
		},
		{
			"a policy ConfigMap without a name", func(k *Keystone) {
				k.Spec.PolicyOverrides = &commonv1.PolicySpec{ConfigMapRef: &corev1.LocalObjectReference{}}
			},
			"spec.policyOverrides.configMapRef.name", "Required value", "", "",
		},
		{
			"an unknown log format", func(k *Keystone) { k.Spec.Logging = &LoggingSpec{Format: "xml"} },
			"spec.logging.format", "Unsupported value", "Unsupported value", "",
		},
		{
			"an unknown log level", func(k *Keystone) { k.Spec.Logging = &LoggingSpec{Level: "TRACE"} },
			"spec.logging.level", "Unsupported value", "Unsupported value", "",
		},
		{
			"an unknown level of a logger", func(k *Keystone) {
				k.Spec.Logging = &LoggingSpec{PerLoggerLevels: map[string]string{"sqlalchemy.engine": "warn"}}
			},
			"spec.logging.perLoggerLevels[sqlalchemy.engine]", "level must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL", "", "",
		},
		{
			"a logger without a name", func(k *Keystone) {
				k.Spec.Logging = &LoggingSpec{PerLoggerLevels: map[string]string{"": "INFO"}}
			},
			"spec.logging.perLoggerLevels[]", "logger name must not be empty", "", "",
		},
		{
			"a logger name that adds another logger", func(k *Keystone) {
				k.Spec.Logging = &LoggingSpec{PerLoggerLevels: map[string]string{"a=DEBUG,b": "INFO"}}
			},
			"spec.logging.perLoggerLevels[a=DEBUG,b]", "logger name must not be empty or contain", "", "",
		},
		{
			"an extra section that closes its header", func(k *Keystone) {
				k.Spec.ExtraConfig = map[string]map[string]string{"a]": {"b": "c"}}
			},
			"spec.extraConfig[a]]", "square brackets", "", "",
		},
		{
			"an extra option with an equals sign", func(k *Keystone) {
				k.Spec.ExtraConfig = map[string]map[string]string{"a": {"b=c": "d"}}
			},
			"spec.extraConfig[a][b=c]", "must not contain '='", "", "",
		},
		{
			"an extra section without a name", func(k *Keystone) {
				k.Spec.ExtraConfig = map[string]map[string]string{"": {"b": "c"}}
			},
			"spec.extraConfig[]", "section name must not be empty", "", "",
		},
		{
			"an extra option without a name", func(k *Keystone) {
				k.Spec.ExtraConfig = map[string]map[string]string{"a": {"": "c"}}
			},
			"spec.extraConfig[a][]", "option name must not be empty", "", "",
		},
		{
			"an extra option that is a comment", func(k *Keystone) {
				k.Spec.ExtraConfig = map[string]map[string]string{"a": {"#b": "c"}}
			},
			"spec.extraConfig[a][#b]", "must not begin with '#', ';' or '['", "", "",
		},
		{
			"an extra option with a space", func(k *Keystone) {
				k.Spec.ExtraConfig = map[string]map[string]string{"a": {"set b": "c"}}
			},
			"spec.extraConfig[a][set b]", "must not contain white space", "", "",
		},
		{
			"an extra value with a tab", func(k *Keystone) {
				k.Spec.ExtraConfig = map[string]map[string]string{"a": {"b": "c\td"}}
			},
			"spec.extraConfig[a][b]", "must not contain control characters", "", "",
		},
		{
			"an extra value that begins with a space", func(k *Keystone) {
				k.Spec.ExtraConfig = map[string]map[string]string{"a": {"b": " c"}}
			},
			"spec.extraConfig[a][b]", "must not begin or end with white space", "", "",
		},
		{
			"an extra value with a line break", func(k *Keystone) {
				k.Spec.ExtraConfig = map[string]map[string]string{"a": {"b": "c\n[DEFAULT]\ndebug = true"}}
			},
			"spec.extraConfig[a][b]", "must not contain a line break", "", "",
		},
	}
}
