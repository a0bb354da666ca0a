package controller

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/keys"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// keystoneOptions is the content of keystone.conf: the defaults, overridden by
// the plugins' sections, overridden by extraConfig. It holds no secret; the
// database URL comes from the environment.
func keystoneOptions(c cluster.Settings, k *keystonev1alpha1.Keystone, withPolicy bool) config.INI {
	plugins := config.INI{}
	for _, plugin := range k.Spec.Plugins {
		plugins[plugin.ConfigSection] = plugin.Config
	}
	options := defaultOptions(c, k).Merge(
		federationOptions(k.Spec.Federation), loggingOptions(k.Spec.Logging), plugins, config.INI(k.Spec.ExtraConfig))
	if withPolicy {
		options.Set("oslo_policy", "policy_file", configDir+"policy.yaml")
	}
	return options
}

func defaultOptions(c cluster.Settings, k *keystonev1alpha1.Keystone) config.INI {
	servers := strings.Join(cacheServers(c, k), ",")
	return config.INI{
		"DEFAULT": {
			// oslo would otherwise try to switch to the user keystone, which the
			// restricted containers neither have nor may become.
			"keystone_user":  "",
			"keystone_group": "",
			"use_stderr":     "true",
			"debug":          "false",
		},
		"cache": {
			"enabled":          "true",
			"backend":          k.Spec.Cache.Backend,
			"memcache_servers": servers,
			"proxies":          cacheGuardProxy,
		},
		"credential": {
			"key_repository":  credentialKeysDir,
			"max_active_keys": activeKeys(k.Spec.CredentialKeys.MaxActiveKeys),
		},
		"database": {
			"connection":              "mysql+pymysql://placeholder",
			"connection_recycle_time": "600",
			"max_retries":             "-1",
		},
		"fernet_tokens": {
			"key_repository":  fernetKeysDir,
			"max_active_keys": activeKeys(k.Spec.Fernet.MaxActiveKeys),
		},
		"identity":        {"default_domain_id": "default"},
		"memcache":        {"servers": servers},
		"oslo_middleware": {"enable_proxy_headers_parsing": "true"},
		"oslo_policy":     {"enforce_scope": "true", "enforce_new_defaults": "true"},
		"paste_deploy":    {"config_file": configDir + pasteFile},
		"token":           {"provider": keystonev1alpha1.TokenProvider},
	}
}

// federationOptions are those of Keystone's guide to federation. Without it the
// methods are Keystone's own but for the one that trusts what a proxy says of the
// user. With it, external goes, because both read REMOTE_USER. The attribute is
// what a header OIDC-ISS arrives as: a proxy in front has no other way to tell.
func federationOptions(federation *keystonev1alpha1.FederationSpec) config.INI {
	if federation == nil || !federation.Enabled {
		return config.INI{"auth": {"methods": "external,password,token,oauth1,application_credential"}}
	}
	return config.INI{
		"auth":       {"methods": "password,token,oauth1,mapped,openid,saml2,application_credential"},
		"federation": {"remote_id_attribute": "HTTP_OIDC_ISS"},
	}
}

func activeKeys(maxActive int32) string {
	return strconv.Itoa(int(keys.Normalise(maxActive)))
}

// cacheServers are the memcached endpoints. A managed one is fully qualified,
// so that it resolves whatever the pod's search domains are.
func cacheServers(c cluster.Settings, k *keystonev1alpha1.Keystone) []string {
	if ref := k.Spec.Cache.ClusterRef; ref != nil {
		return []string{fmt.Sprintf("%s:%d", c.ServiceHost(ref.Name, k.Namespace), commonv1.DefaultCachePort)}
	}
	return k.Spec.Cache.Servers
}

// loggingOptions turn the logging block into oslo.log's options.
func loggingOptions(logging *commonv1.LoggingSpec) config.INI {
	options := config.INI{"DEFAULT": {"debug": strconv.FormatBool(logging.Debug)}}
	if levels := loggerLevels(logging); len(levels) > 0 {
		options.Set("DEFAULT", "default_log_levels", strings.Join(levels, ","))
	}
	if logging.Format == commonv1.LogFormatJSON {
		options.Set("DEFAULT", "log_config_append", configDir+"logging.conf")
	}
	return options
}

// rootLogger is the name by which Python gives out the root logger
// (logging.getLogger, since Python 3.9). oslo.log has no option for its level but
// debug.
const rootLogger = "root"

// loggerLevels are logger=LEVEL pairs sorted by logger. In text mode the level of
// the root logger is one of them; logging.conf has it otherwise.
func loggerLevels(logging *commonv1.LoggingSpec) []string {
	levels := map[string]string{}
	if logging.Format == commonv1.LogFormatText && logging.Level != commonv1.DefaultLogLevel {
		if logging.Level == commonv1.LogLevelDebug {
			maps.Copy(levels, libraryLevels)
		}
		levels[rootLogger] = string(logging.Level)
	}
	maps.Copy(levels, logging.PerLoggerLevels)
	pairs := make([]string, 0, len(levels))
	for _, logger := range slices.Sorted(maps.Keys(levels)) {
		pairs = append(pairs, logger+"="+levels[logger])
	}
	return pairs
}

// jsonLogging is a logging.conf that writes one JSON object for each record to
// standard error. oslo.log takes no level of a logger from anywhere else once
// there is such a file.
func jsonLogging(logging *commonv1.LoggingSpec) config.INI {
	file := config.INI{
		"handlers":    {"keys": "stderr"},
		"formatters":  {"keys": "json"},
		"logger_root": {"level": string(logging.Level), "handlers": "stderr"},
		"handler_stderr": {
			"class": logHandler, "args": "(sys.stderr,)", "level": "NOTSET", "formatter": "json",
		},
		"formatter_json": {"class": "oslo_log.formatters.JSONFormatter"},
	}
	levels := map[string]string{}
	if logging.Level == commonv1.LogLevelDebug {
		maps.Copy(levels, libraryLevels)
	}
	maps.Copy(levels, logging.PerLoggerLevels)
	sections := make([]string, 1, len(levels)+1)
	sections[0] = "root"
	for i, name := range slices.Sorted(maps.Keys(levels)) {
		key := fmt.Sprintf("level%d", i)
		// Python's reader of the file takes a percent sign for the start of a reference.
		qualified := strings.ReplaceAll(name, "%", "%%")
		file["logger_"+key] = map[string]string{"qualname": qualified, "level": levels[name], "handlers": ""}
		sections = append(sections, key)
	}
	file.Set("loggers", "keys", strings.Join(sections, ","))
	return file
}

// libraryLevels keep the libraries below Keystone from logging everything they
// do, as oslo.log does without a logging.conf (its default_log_levels). Its JSON
// formatter cannot even write some of their records.
var libraryLevels = map[string]string{
	"dogpile": "INFO", "iso8601": "WARNING", "keystoneauth": "WARNING", "oslo.cache": "INFO", "oslo_policy": "INFO",
	"requests.packages.urllib3.connectionpool": "WARNING", "routes": "INFO", "sqlalchemy": "WARNING", "stevedore": "WARNING",
	"urllib3.connectionpool": "WARNING",
}

func pasteFilters(k *keystonev1alpha1.Keystone) []config.PasteFilter {
	filters := make([]config.PasteFilter, 0, len(k.Spec.Middleware))
	for _, middleware := range k.Spec.Middleware {
		filters = append(filters, config.PasteFilter{
			Name: middleware.Name, Factory: middleware.FilterFactory,
			Before: middleware.Position == commonv1.PipelineBefore, Config: middleware.Config,
		})
	}
	return filters
}
