// Package kit has the steps that are common to the pipelines of all API services, and
// completes the declarations of an operator with the values that follow from them.
package kit

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/policy"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
)

// Steps are the steps of a service with a database, in passes of type S, that need at most
// this and the schema in it.
type Steps[S service.Scoped] struct {
	Stateless[S]
	// Schema declares the database and its schema.
	Schema schema.Schema
}

// DatabaseSecret is the step [database.ReconcileSecret].
func (k Steps[S]) DatabaseSecret(ctx context.Context, s S) reconcile.Outcome {
	return database.ReconcileSecret(ctx, s.ServicePass())
}

// DatabaseTLS is the step [database.Database.ReconcileTLS].
func (k Steps[S]) DatabaseTLS(ctx context.Context, s S) reconcile.Outcome {
	return k.Schema.Database.ReconcileTLS(ctx, s.ServicePass())
}

// DatabaseConnection is the step [database.Database.ReconcileConnection].
func (k Steps[S]) DatabaseConnection(ctx context.Context, s S) reconcile.Outcome {
	return k.Schema.Database.ReconcileConnection(ctx, s.ServicePass())
}

// Database is the step [schema.Schema.Reconcile].
func (k Steps[S]) Database(ctx context.Context, s S) reconcile.Outcome {
	return k.Schema.Reconcile(ctx, s.ServicePass())
}

// PolicyValidation is the step [policy.ReconcileValidation].
func (k Steps[S]) PolicyValidation(ctx context.Context, s S) reconcile.Outcome {
	return policy.ReconcileValidation(ctx, s.ServicePass())
}

// FinalizeDatabase is the stage of deletion [database.Finalize].
func (k Steps[S]) FinalizeDatabase(ctx context.Context, s S) reconcile.Outcome {
	return database.Finalize(ctx, s.ServicePass())
}

// Pods adds to the declaration of the API pods what they have of the database and of the
// configuration.
func (k Steps[S]) Pods(api deployment.API[S]) deployment.API[S] {
	db := k.Schema.Database
	api.Backing = deployment.Backing{
		Variable: db.Variable(),
		Address:  database.Address,
		Env:      func(p *service.Pass) []corev1.EnvVar { return []corev1.EnvVar{db.APIEnv(p)} },
		Mounts:   database.TLSMounts,
		Annotations: func(p *service.Pass) map[string]string {
			return map[string]string{database.HashAnnotation(p.Definition): database.Connection.Value(p.Slots).Hash()}
		},
		Prune:    serviceconfig.Prune,
		Complete: k.Schema.CompleteRollout,
	}
	return api
}
