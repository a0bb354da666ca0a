package controller

import (
	"github.com/c5c3/forge/internal/common/ini"
)

// defaultOptions returns the options that the operator sets in placement.conf, without
// those of the service user. They contain no secret: the database URL comes from the
// environment.
func defaultOptions(*scope) ini.File {
	return ini.File{
		"DEFAULT": {"use_stderr": "true", "debug": "false"},
		"placement_database": {
			"connection":              "mysql+pymysql://placeholder",
			"connection_recycle_time": "600",
			"max_retries":             "-1",
		},
		"oslo_middleware": {"enable_proxy_headers_parsing": "true"},
	}
}
