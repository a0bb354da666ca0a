package controller

import (
	"github.com/c5c3/forge/internal/common/ini"
)

// defaultOptions returns the options that the operator sets in barbican.conf, without those of
// the service user. They contain no secret: the database URL comes from the environment, and
// the key-encryption key from a Secret.
func defaultOptions(*scope) ini.File {
	return ini.File{
		// Links in answers begin with the address of the request, inside and outside of the
		// cluster.
		"DEFAULT": {"use_stderr": "true", "debug": "false", "host_href": "", "db_auto_create": "false"},
		"database": {
			"connection":              "mysql+pymysql://placeholder",
			"connection_recycle_time": "600",
			"max_retries":             "-1",
		},
		"secretstore":     {"enabled_secretstore_plugins": "store_crypto"},
		"crypto":          {"enabled_crypto_plugins": "simple_crypto"},
		"oslo_middleware": {"enable_proxy_headers_parsing": "true"},
	}
}
