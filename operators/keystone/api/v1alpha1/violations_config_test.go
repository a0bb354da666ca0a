package v1alpha1

import (
	"strings"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
)

// withFile adds a middleware with a file.
func withFile(name, content string) func(*Keystone) {
	return func(k *Keystone) {
		audit := filter("audit")
		audit.Files = map[string]string{name: content}
		k.Spec.Middleware = []MiddlewareSpec{audit}
	}
}

func filter(name string) MiddlewareSpec {
	return MiddlewareSpec{
		Name: name, FilterFactory: "keystonemiddleware.audit:filter_factory", Position: PipelineAfter,
	}
}

func configViolations() []violation {
	return []violation{
		{
			"two plugins in one section", func(k *Keystone) {
				k.Spec.Plugins = []PluginSpec{{Name: "a", ConfigSection: "keycloak"}, {Name: "b", ConfigSection: "keycloak"}}
			},
			"spec.plugins[1].configSection", "Duplicate value", "Duplicate value", "spec.plugins[1]",
		},
		{
			"two plugins in one section whose names differ in case", func(k *Keystone) {
				k.Spec.Plugins = []PluginSpec{{Name: "a", ConfigSection: "keycloak"}, {Name: "b", ConfigSection: "KeyCloak"}}
			},
			"spec.plugins[1].configSection", "Duplicate value", "", "",
		},
		{
			"a plugin without a name", func(k *Keystone) { k.Spec.Plugins = []PluginSpec{{ConfigSection: "keycloak"}} },
			"spec.plugins[0].name", "Required value", apitest.TooShort, "",
		},
		{
			"a plugin section that closes its header", func(k *Keystone) {
				k.Spec.Plugins = []PluginSpec{{Name: "a", ConfigSection: "x]\n[DEFAULT"}}
			},
			"spec.plugins[0].configSection", "square brackets", "", "",
		},
		{
			"a plugin option with a line break", func(k *Keystone) {
				k.Spec.Plugins = []PluginSpec{{Name: "a", ConfigSection: "x", Config: map[string]string{"a": "b\nc = d"}}}
			},
			"spec.plugins[0].config[a]", "must not contain a line break", "", "",
		},
		{
			"two middlewares of one name", func(k *Keystone) { k.Spec.Middleware = []MiddlewareSpec{filter("audit"), filter("audit")} },
			"spec.middleware[1].name", "Duplicate value", "Duplicate value", "spec.middleware[1]",
		},
		{
			"a middleware with a built-in name", func(k *Keystone) { k.Spec.Middleware = []MiddlewareSpec{filter("cors")} },
			"spec.middleware[0].name", "belongs to a built-in part", "", "",
		},
		{
			"a middleware name with a space", func(k *Keystone) { k.Spec.Middleware = []MiddlewareSpec{filter("my audit")} },
			"spec.middleware[0].name", "name must consist of", apitest.NoMatch, "",
		},
		{
			"a middleware factory that is no callable", func(k *Keystone) {
				k.Spec.Middleware = []MiddlewareSpec{{Name: "audit", FilterFactory: "audit", Position: PipelineAfter}}
			},
			"spec.middleware[0].filterFactory", "must have the form module:callable", apitest.NoMatch, "",
		},
		{
			"a middleware without a factory", func(k *Keystone) {
				k.Spec.Middleware = []MiddlewareSpec{{Name: "audit", Position: PipelineAfter}}
			},
			"spec.middleware[0].filterFactory", "filter factory must not be empty", apitest.TooShort, "",
		},
		{
			"a middleware in no position", func(k *Keystone) {
				k.Spec.Middleware = []MiddlewareSpec{{Name: "audit", FilterFactory: "audit:factory", Position: "middle"}}
			},
			"spec.middleware[0].position", "Unsupported value", "Unsupported value", "",
		},
		{
			"a middleware option with a line break", func(k *Keystone) {
				audit := filter("audit")
				audit.Config = map[string]string{"a": "b\r\n[filter:x]"}
				k.Spec.Middleware = []MiddlewareSpec{audit}
			},
			"spec.middleware[0].config[a]", "must not contain a line break", "", "",
		},
		{
			"a middleware option that replaces its factory", func(k *Keystone) {
				audit := filter("audit")
				audit.Config = map[string]string{"use": "egg:other"}
				k.Spec.Middleware = []MiddlewareSpec{audit}
			},
			"spec.middleware[0].config", "would replace the filter factory", "", "",
		},
		{
			"a file for a middleware in another folder", withFile("../shadow", ""),
			"spec.middleware[0].files[../shadow]", "must be a file name", "", "",
		},
		{
			"a file for a middleware that replaces one of the operator", withFile("api-paste.ini", ""),
			"spec.middleware[0].files[api-paste.ini]", "is the name of a file of the operator", "", "",
		},
		{
			"a file for a middleware that Keystone reads as its configuration", withFile("zz.conf", "[token]\nexpiration = 1"),
			"spec.middleware[0].files[zz.conf]", "is the name of a file of the operator", "", "",
		},
		{
			"a file for a middleware that replaces a Python module", withFile("forge_errors.py", ""),
			"spec.middleware[0].files[forge_errors.py]", "is the name of a file of the operator", "", "",
		},
		{
			"a file for a middleware that is larger than a ConfigMap", withFile("audit_map.ini", strings.Repeat("a", maxFilesSize+1)),
			"spec.middleware", "have 524289 bytes together", "", "",
		},
		{
			"two files of one name", func(k *Keystone) {
				a, b := filter("a"), filter("b")
				a.Files, b.Files = map[string]string{"map.ini": "1"}, map[string]string{"map.ini": "2"}
				k.Spec.Middleware = []MiddlewareSpec{a, b}
			},
			"spec.middleware[1].files[map.ini]", "Duplicate value", "", "",
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
			"a global option that Keystone reserves", func(k *Keystone) {
				k.Spec.GlobalExtraConfig = map[string]map[string]string{"token": {"provider": "jws"}}
			},
			"spec.globalExtraConfig[token][provider]", "Forbidden: remove [token] provider", "", "",
		},
		{
			"a plugin that names another provider of tokens", func(k *Keystone) {
				k.Spec.Plugins = []PluginSpec{{Name: "a", ConfigSection: "Token", Config: map[string]string{"provider": "jws"}}}
			},
			"spec.plugins[0].config[provider]", "Forbidden: remove [token] provider", "", "",
		},
	}
}

func extraOption(section, option, value string) func(*Keystone) {
	return func(k *Keystone) { k.Spec.ExtraConfig = map[string]map[string]string{section: {option: value}} }
}
