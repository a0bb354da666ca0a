package controller

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// authSection is the section of the middleware that validates tokens.
const authSection = "keystone_authtoken"

// defaultOptions returns the options that the operator sets in placement.conf. They
// contain no secret: the database URL comes from the environment, and the service user
// from a separate file.
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
			// Only services may attach their own token to a request.
			"service_token_roles":          "service",
			"service_token_roles_required": "true",
			"memcached_servers":            strings.Join(cacheServers(p), ","),
			// If the cache fails, requests must only become slower.
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

// cacheServers returns the memcached endpoints. A managed one is fully qualified, so that
// it resolves with any search domains.
func cacheServers(p *service.Pass) []string {
	if ref := p.Spec.Cache.ClusterRef; ref != nil {
		return []string{fmt.Sprintf("%s:%d", p.Cluster.ServiceHost(ref.Name, p.Resource.GetNamespace()), commonv1.DefaultCachePort)}
	}
	return p.Spec.Cache.Servers
}

// readUser returns the name and password of the service user from its Secret.
func readUser(ctx context.Context, p *service.Pass) (config.INI, []types.UID, error) {
	ref := placementOf(p.Resource).Spec.ServiceUserSecretRef
	key := ref.KeyOr("password")
	found, err := service.RequireSecrets(ctx, p, service.Requirement{
		Name: ref.Name, Keys: []string{"username", key},
		Field: "spec.serviceUserSecretRef", Reason: placementv1alpha1.ReasonWaitingForServiceUser,
	})
	if err != nil {
		return nil, nil, err
	}
	secret := found[0]
	options := authOptions(string(secret.Data["username"]), string(secret.Data[key]))
	// The name is not secret, and often is that of the service itself.
	p.Hide(string(secret.Data[key]), options[authSection]["password"])
	for option, value := range options[authSection] {
		if err := config.ValidateValue(value); err != nil {
			return nil, nil, reconcile.TerminalError(vocabulary.ReasonSecretInvalid, fmt.Errorf(
				"the %s in Secret %s of spec.serviceUserSecretRef cannot be used: %w", option, ref.Name, err))
		}
	}
	return options, []types.UID{secret.UID}, nil
}

// authOptions returns the name and password of the service user. Dollar signs are escaped
// because oslo.config takes them as references to other options.
func authOptions(name, password string) config.INI {
	escape := strings.NewReplacer("$", "$$")
	return config.INI{authSection: {"username": escape.Replace(name), "password": escape.Replace(password)}}
}
