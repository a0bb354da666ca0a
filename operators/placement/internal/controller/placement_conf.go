package controller

import (
	"fmt"
	"strings"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// authSection is the section of the middleware that validates tokens.
const authSection = "keystone_authtoken"

// defaultOptions are what the operator sets in placement.conf. They hold no secret: the
// database's URL comes from the environment, the service user from a file of its own.
func defaultOptions(p *service.Pass) config.INI {
	identity := placementOf(p.Resource).Spec.Identity
	options := config.INI{
		"DEFAULT": {"use_stderr": "true", "debug": "false"},
		"placement_database": {
			"connection":              "mysql+pymysql://placeholder",
			"connection_recycle_time": "600",
			"max_retries":             "-1",
		},
		authSection: {
			"auth_type":            "password",
			"auth_url":             identity.AuthURL,
			"www_authenticate_uri": identity.AuthURL,
			"interface":            "internal",
			"project_name":         identity.Project,
			"project_domain_name":  identity.ProjectDomain,
			"user_domain_name":     identity.UserDomain,
			// Only services may lend a request their own token.
			"service_token_roles":          "service",
			"service_token_roles_required": "true",
			"memcached_servers":            strings.Join(cacheServers(p), ","),
			// Without its cache a request is to be slower, and no more than that.
			"memcache_pool_socket_timeout": "1",
			"memcache_pool_dead_retry":     "10",
		},
		"oslo_middleware": {"enable_proxy_headers_parsing": "true"},
	}
	if identity.Region != "" {
		options.Set(authSection, "region_name", identity.Region)
	}
	return options
}

// cacheServers are the memcached endpoints. A managed one is fully qualified, so that it
// resolves whatever the pod's search domains are.
func cacheServers(p *service.Pass) []string {
	if ref := p.Spec.Cache.ClusterRef; ref != nil {
		return []string{fmt.Sprintf("%s:%d", p.Cluster.ServiceHost(ref.Name, p.Resource.GetNamespace()), commonv1.DefaultCachePort)}
	}
	return p.Spec.Cache.Servers
}

// authOptions are the name and the password of the service user. oslo.config takes a
// dollar sign for the start of a reference to another option.
func authOptions(name, password string) config.INI {
	escape := strings.NewReplacer("$", "$$")
	return config.INI{authSection: {"username": escape.Replace(name), "password": escape.Replace(password)}}
}
