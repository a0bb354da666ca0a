package controller

import (
	"strings"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/ini"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/oidc"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// keystoneOptions returns the options that the operator sets in keystone.conf. They
// contain no secret; the database URL comes from the environment.
func keystoneOptions(s *pass.Scope) ini.File {
	return defaultOptions(s.Cluster, s.Resource).Merge(federationOptions(s))
}

// pluginOptions returns the sections of the plugins.
func pluginOptions(s *pass.Scope) ini.File {
	options := ini.File{}
	for _, plugin := range s.Resource.Spec.Plugins {
		options[plugin.ConfigSection] = plugin.Config
	}
	return options
}

func defaultOptions(c cluster.Settings, k *keystonev1alpha1.Keystone) ini.File {
	servers := strings.Join(k.Spec.Cache.Addresses(c, k.Namespace), ",")
	return ini.File{
		"DEFAULT": {
			// Otherwise oslo would try to switch to the user keystone, which does not
			// exist in the restricted containers and which they must not become.
			"keystone_user":  "",
			"keystone_group": "",
			"use_stderr":     "true",
			"debug":          "false",
		},
		"cache": {
			"enabled":          "true",
			"backend":          k.Spec.Cache.Backend,
			"memcache_servers": servers,
			"proxies":          keystonev1alpha1.CacheProxy,
		},
		"credential": {
			"key_repository":  keystonev1alpha1.CredentialKeyRepository,
			"max_active_keys": keys.MaxActive(k.Spec.CredentialKeys.MaxActiveKeys),
		},
		"database": {
			"connection":              "mysql+pymysql://placeholder",
			"connection_recycle_time": "600",
			"max_retries":             "-1",
		},
		"fernet_tokens": {
			"key_repository":  keystonev1alpha1.FernetKeyRepository,
			"max_active_keys": keys.MaxActive(k.Spec.Fernet.MaxActiveKeys),
		},
		"identity":        {"default_domain_id": "default"},
		"memcache":        {"servers": servers},
		"oslo_middleware": {"enable_proxy_headers_parsing": "true"},
		"oslo_policy":     {"enforce_scope": "true", "enforce_new_defaults": "true"},
		"paste_deploy":    {"config_file": pass.ConfigDir + pasteFile},
		"token":           {"provider": keystonev1alpha1.TokenProvider},
	}
}

// callbackFile is the page with which Keystone sends the browser of a federated user back to
// the dashboard, together with the token. Keystone replaces the two names in it.
const callbackFile = "sso_callback_template.html"

// dashboardsFile has the dashboards that Keystone trusts. One file can have the option several times.
const dashboardsFile = "trusted_dashboards.conf"

// trustedDashboards returns the content of that file.
func trustedDashboards(k *keystonev1alpha1.Keystone) string {
	var text strings.Builder
	text.WriteString("[federation]\n")
	for _, dashboard := range k.Spec.TrustedDashboards {
		text.WriteString("trusted_dashboard = " + dashboard + "\n")
	}
	return text.String()
}

// hasFederation reports whether users of a provider log in: through a proxy of the users' own, or
// through that of the pods.
func hasFederation(s *pass.Scope) bool {
	federation := s.Resource.Spec.Federation
	return federation != nil && federation.Enabled || len(providers(s)) > 0
}

// federationOptions returns the options of Keystone's federation guide. Without
// federation, the methods are Keystone's defaults except the one that trusts the user
// name from a proxy. With federation, external is removed because both read REMOTE_USER.
// The attribute is the WSGI name of the header OIDC-ISS: a proxy in front has no other
// way to pass it. The one of the pods does not pass headers.
func federationOptions(s *pass.Scope) ini.File {
	if !hasFederation(s) {
		return ini.File{"auth": {"methods": "external,password,token,oauth1,application_credential"}}
	}
	options := ini.File{
		"auth": {"methods": "password,token,oauth1,mapped,openid,saml2,application_credential"},
		"federation": {
			"remote_id_attribute":   "HTTP_OIDC_ISS",
			"sso_callback_template": pass.ConfigDir + callbackFile,
		},
	}
	if len(providers(s)) > 0 {
		options.Set("federation", "remote_id_attribute", oidc.ClaimPrefix+"iss")
		options.Set("federation", "assertion_prefix", oidc.ClaimPrefix)
	}
	return options
}
