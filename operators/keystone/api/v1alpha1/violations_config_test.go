package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func configViolations() []violation {
	return []violation{
		{
			"two plugins in one section", func(k *Keystone) {
				k.Spec.Plugins = []commonv1.PluginSpec{{Name: "a", ConfigSection: "keycloak"}, {Name: "b", ConfigSection: "keycloak"}}
			},
			"spec.plugins[1].configSection", "Duplicate value", "Duplicate value", "spec.plugins[1]",
		},
		{
			"two plugins in one section whose names differ in case", func(k *Keystone) {
				k.Spec.Plugins = []commonv1.PluginSpec{{Name: "a", ConfigSection: "keycloak"}, {Name: "b", ConfigSection: "KeyCloak"}}
			},
			"spec.plugins[1].configSection", "Duplicate value", "", "",
		},
		{
			"a plugin without a name", func(k *Keystone) { k.Spec.Plugins = []commonv1.PluginSpec{{ConfigSection: "keycloak"}} },
			"spec.plugins[0].name", "Required value", apitest.TooShort, "",
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
			"spec.middleware[0].name", "name must consist of", apitest.NoMatch, "",
		},
		{
			"a middleware factory that is no callable", func(k *Keystone) {
				k.Spec.Middleware = []commonv1.MiddlewareSpec{{Name: "audit", FilterFactory: "audit", Position: commonv1.PipelineAfter}}
			},
			"spec.middleware[0].filterFactory", "must have the form module:callable", apitest.NoMatch, "",
		},
		{
			"a middleware without a factory", func(k *Keystone) {
				k.Spec.Middleware = []commonv1.MiddlewareSpec{{Name: "audit", Position: commonv1.PipelineAfter}}
			},
			"spec.middleware[0].filterFactory", "filter factory must not be empty", apitest.TooShort, "",
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
			"an unknown deletion policy", func(k *Keystone) { k.Spec.DeletionPolicy = "Orphan" },
			"spec.deletionPolicy", "Unsupported value", "Unsupported value", "",
		},
		{
			"an unknown log format", func(k *Keystone) { k.Spec.Logging = &commonv1.LoggingSpec{Format: "xml"} },
			"spec.logging.format", "Unsupported value", "Unsupported value", "",
		},
		{
			"an unknown log level", func(k *Keystone) { k.Spec.Logging = &commonv1.LoggingSpec{Level: "TRACE"} },
			"spec.logging.level", "Unsupported value", "Unsupported value", "",
		},
		{
			"an unknown level of a logger", func(k *Keystone) {
				k.Spec.Logging = &commonv1.LoggingSpec{PerLoggerLevels: map[string]string{"sqlalchemy.engine": "warn"}}
			},
			"spec.logging.perLoggerLevels[sqlalchemy.engine]", "level must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL", "", "",
		},
		{
			"a logger without a name", func(k *Keystone) {
				k.Spec.Logging = &commonv1.LoggingSpec{PerLoggerLevels: map[string]string{"": "INFO"}}
			},
			"spec.logging.perLoggerLevels[]", "logger name must not be empty", "", "",
		},
		{
			"a logger name that adds another logger", func(k *Keystone) {
				k.Spec.Logging = &commonv1.LoggingSpec{PerLoggerLevels: map[string]string{"a=DEBUG,b": "INFO"}}
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
			"two extra sections whose names differ in case", func(k *Keystone) {
				k.Spec.ExtraConfig = map[string]map[string]string{"Token": {"expiration": "7200"}, "token": {"expiration": "3600"}}
			},
			"spec.extraConfig[token]", "Duplicate value", "", "",
		},
		{
			"a key repository that no pod mounts", extraOption("fernet_tokens", "key_repository", "/tmp/keys"),
			"spec.extraConfig[fernet_tokens][key_repository]", "Forbidden: remove [fernet_tokens] key_repository", "", "",
		},
		{
			"a repository of credential keys that no pod mounts", extraOption("Credential", "key_repository", "/tmp/keys"),
			"spec.extraConfig[Credential][key_repository]", "Forbidden: remove [credential] key_repository", "", "",
		},
		{
			"tokens that the operator has no keys for", extraOption("TOKEN", "provider", "jws"),
			"spec.extraConfig[TOKEN][provider]", "Forbidden: remove [token] provider", "", "",
		},
		{
			"a cache without the operator's guard", extraOption("cache", "proxies", "example.Proxy"),
			"spec.extraConfig[cache][proxies]", "Forbidden: remove [cache] proxies", "", "",
		},
		{
			"a plugin that names another provider of tokens", func(k *Keystone) {
				k.Spec.Plugins = []commonv1.PluginSpec{{Name: "a", ConfigSection: "Token", Config: map[string]string{"provider": "jws"}}}
			},
			"spec.plugins[0].config[provider]", "Forbidden: remove [token] provider", "", "",
		},
		{
			"secret options of nobody", secretOptions("", ""),
			"spec.extraConfigSecretRef.name", "Required value", apitest.TooShort, "",
		},
		{
			"secret options under a key that cannot exist", secretOptions("keystone-ldap", "a b"),
			"spec.extraConfigSecretRef.key", "a valid config key", apitest.NoMatch, "",
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

func extraOption(section, option, value string) func(*Keystone) {
	return func(k *Keystone) { k.Spec.ExtraConfig = map[string]map[string]string{section: {option: value}} }
}

func secretOptions(name, key string) func(*Keystone) {
	return func(k *Keystone) { k.Spec.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: name, Key: key} }
}
