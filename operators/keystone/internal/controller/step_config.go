package controller

import (
	_ "embed"
	"fmt"
	"maps"

	"github.com/c5c3/forge/internal/common/serviceconfig"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/paste"
)

//go:embed files/sso_callback.html
var callbackPage string

// settings declares the configuration of a Keystone.
var settings = serviceconfig.Settings[*pass.Scope]{
	File:    "keystone.conf",
	Options: keystoneOptions,
	Plugins: &serviceconfig.Plugins[*pass.Scope]{Field: "spec.plugins", Options: pluginOptions},
	Filters: &serviceconfig.Filters[*pass.Scope]{Field: "spec.middleware", Value: func(s *pass.Scope) (any, bool) {
		return s.Resource.Spec.Middleware, len(s.Resource.Spec.Middleware) > 0
	}},
	Parts:   []serviceconfig.Part{identityBackends.Part()},
	Files:   configFiles,
	Refused: keystonev1alpha1.CheckSecretOptions,
	Check:   configCheck,
}

// drivers are the options by which Keystone's managers choose their drivers at each start
// (keystone.server.backends), with the driver_namespace of each. Catalog has the driver of
// endpoint_filter, too.
var drivers = []serviceconfig.Driver{
	{Section: "application_credential", Option: "driver", Group: "keystone.application_credential"},
	{Section: "assignment", Option: "driver", Group: "keystone.assignment"},
	{Section: "catalog", Option: "driver", Group: "keystone.catalog"},
	{Section: "credential", Option: "driver", Group: "keystone.credential"},
	{Section: "credential", Option: "provider", Group: "keystone.credential.provider"},
	{Section: "domain_config", Option: "driver", Group: "keystone.resource.domain_config"},
	{Section: "endpoint_policy", Option: "driver", Group: "keystone.endpoint_policy"},
	{Section: "federation", Option: "driver", Group: "keystone.federation"},
	{Section: "identity", Option: "driver", Group: "keystone.identity"},
	{Section: "identity_mapping", Option: "driver", Group: "keystone.identity.id_mapping"},
	{Section: "identity_mapping", Option: "generator", Group: "keystone.identity.id_generator"},
	{Section: "oauth1", Option: "driver", Group: "keystone.oauth1"},
	{Section: "policy", Option: "driver", Group: "keystone.policy"},
	{Section: "receipt", Option: "provider", Group: "keystone.receipt.provider"},
	{Section: "resource", Option: "driver", Group: "keystone.resource"},
	{Section: "revoke", Option: "driver", Group: "keystone.revoke"},
	{Section: "role", Option: "driver", Group: "keystone.role"},
	{Section: "shadow_users", Option: "driver", Group: "keystone.identity.shadow_users"},
	{Section: "token", Option: "provider", Group: "keystone.token.provider"},
	{Section: "trust", Option: "driver", Group: "keystone.trust"},
	{Section: "unified_limit", Option: "driver", Group: "keystone.unified_limit"},
}

var configCheck = serviceconfig.Check{
	Register: "keystone.conf:configure",
	Drivers:  drivers,
	// Each method of logins has a group of plugins (keystone.auth.core, load_auth_method).
	Variants: []serviceconfig.Driver{{Section: "auth", Option: "methods", Group: "keystone.auth."}},
}

// configFiles returns the configuration files in addition to keystone.conf.
func configFiles(s *pass.Scope) (map[string]string, error) {
	k := s.Resource
	files := pythonFiles(s)
	var err error
	if files[pasteFile], err = paste.Render(pasteFilters(k)); err != nil {
		return nil, fmt.Errorf("api-paste.ini: %w", err)
	}
	if hasFederation(s) {
		files[callbackFile], files[dashboardsFile] = callbackPage, trustedDashboards(k)
	}
	if err := addProxyFiles(s, files); err != nil {
		return nil, err
	}
	if certificates := directoryCertificates(s); certificates != "" {
		files[caFile] = certificates
	}
	for _, middleware := range k.Spec.Middleware {
		maps.Copy(files, middleware.Files)
	}
	if len(k.Spec.Middleware) > 0 {
		if files[middlewareFile], err = middlewareWSGI(k); err != nil {
			return nil, err
		}
	}
	return files, nil
}
