package controller

import (
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// api declares the API pods of a Keystone.
var api = withIdentityBackends(steps.Pods(deployment.API[*pass.Scope]{
	Arguments:  "--config-dir=" + pass.ConfigDir,
	Wrapper:    middlewareEntryOf,
	HealthPath: pass.Definition.Path,
	Table:      "project",
	// What a login, the catalog and the check of a token are read from in every release.
	Tables: []string{
		"assignment", "credential", "endpoint", "local_user", "password", "project", "region", "revocation_event", "role",
		"service", "user",
	},
	Endpoint: func(s *pass.Scope) string { return pass.PublicEndpoint(s.Cluster, s.Resource) },
	Mounts: func(s *pass.Scope) []deployment.Mount {
		return append(keys.Mounts(s.Resource.Name), identityBackends.Mounts(s.Pass)...)
	},
}))

// withIdentityBackends replaces the pods when the identity backends change.
func withIdentityBackends(api deployment.API[*pass.Scope]) deployment.API[*pass.Scope] {
	api.Backing.Annotations = identityBackends.Annotate(api.Backing.Annotations)
	api.Annotations, api.Proxy = passphraseHash, proxyOf
	return api
}

// middlewareEntryOf returns the WSGI file of a Keystone with additional filters, ""
// without any.
func middlewareEntryOf(s *pass.Scope) string {
	if len(s.Resource.Spec.Middleware) == 0 {
		return ""
	}
	return pass.ConfigDir + middlewareFile
}
