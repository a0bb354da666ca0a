package controller

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/configuration"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// api declares the API pods of a Keystone.
var api = deployment.API{
	Arguments:  "--config-dir=" + pass.ConfigDir,
	Wrapper:    middlewareEntryOf,
	HealthPath: pass.Definition.Path,
	Variable:   pass.Database.Variable(), Table: "project",
	// What a login, the catalog and the check of a token are read from in every release.
	Tables: []string{
		"assignment", "credential", "endpoint", "local_user", "password", "project", "region", "revocation_event", "role",
		"service", "user",
	},
	Endpoint: func(p *service.Pass) string { return pass.PublicEndpoint(p.Cluster, pass.KeystoneOf(p)) },
	Address:  database.Address,
	Env:      func(p *service.Pass) []corev1.EnvVar { return []corev1.EnvVar{pass.Database.APIEnv(p)} },
	Mounts: func(p *service.Pass) []deployment.Mount {
		return append(keys.Mounts(pass.KeystoneOf(p)), database.TLSMounts(p)...)
	},
	Annotations: func(p *service.Pass) map[string]string {
		return map[string]string{database.HashAnnotation(p.Definition): database.Connection.Value(p.Slots).Hash()}
	},
	Prune:    configuration.Prune,
	Complete: keystoneSchema.CompleteRollout,
}

// middlewareEntryOf returns the WSGI file of a Keystone with additional filters, ""
// without any.
func middlewareEntryOf(p *service.Pass) string {
	if len(pass.KeystoneOf(p).Spec.Middleware) == 0 {
		return ""
	}
	return pass.ConfigDir + middlewareFile
}
