package controller

import (
	_ "embed"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/ini"
)

const (
	// pasteFile declares the pipeline of the API. That of the image answers health checks in a
	// filter, which makes every path a healthy one for a client that names it.
	pasteFile  = "glance-api-paste.ini"
	healthPath = "/healthcheck"
	// storesModule is the Python module that corrects the driver of S3.
	storesModule = "forge_stores"
	s3Driver     = "glance_store._drivers.s3"
	// workDir is where images wait that Glance imports, and backendDir where volumes are mounted
	// that store images.
	workDir    = "/var/lib/glance/work"
	backendDir = "/var/lib/glance/backends/"
)

var (
	//go:embed files/glance-api-paste.ini
	pastePipeline string
	//go:embed files/forge_stores.py
	storesScript string
)

// defaultOptions returns the options that the operator sets in glance.conf, without
// those of the service user and of the backends. They contain no secret: the database URL comes
// from the environment.
func defaultOptions(s *scope) ini.File {
	options := ini.File{
		"DEFAULT": {
			"use_stderr": "true", "debug": "false",
			// An upload that is staged in one pod cannot be imported by another one, so clients get
			// no glance-direct.
			"enabled_import_methods": "[copy-image]",
		},
		"database": {
			"connection":              "mysql+pymysql://placeholder",
			"connection_recycle_time": "600",
			"max_retries":             "-1",
		},
		"paste_deploy":            {"flavor": "keystone", "config_file": configDir + pasteFile},
		"os_glance_staging_store": {"filesystem_store_datadir": workDir + "/staging"},
		"os_glance_tasks_store":   {"filesystem_store_datadir": workDir + "/tasks"},
		"task":                    {"work_dir": workDir + "/tasks"},
		"oslo_middleware":         {"enable_proxy_headers_parsing": "true"},
	}
	if download := s.Resource.Spec.WebDownload; download != nil {
		options.Set("DEFAULT", "enabled_import_methods", "[web-download,copy-image]")
		options = options.Merge(ini.File{"import_filtering_opts": {
			"allowed_hosts": strings.Join(download.AllowedHosts, ","), "allowed_schemes": "http,https", "allowed_ports": "80,443",
		}})
	}
	return options
}

// mounts has the space for imports, and the volumes of backends.
func mounts(s *scope) []deployment.Mount {
	all := []deployment.Mount{deployment.ScratchMount("work", workDir, *s.Resource.Spec.StagingSize)}
	for _, a := range backends.Accepted.Value(s.Slots) {
		if a.Resource.Spec.File == nil {
			continue
		}
		volume := corev1.Volume{Name: "backend-" + a.Resource.Name}
		volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: a.Resource.Spec.File.Claim}
		all = append(all, deployment.Mount{Path: backendDir + a.Resource.Name, Writable: true, Volume: volume})
	}
	return all
}
