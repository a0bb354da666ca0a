// Package kit has the steps that are common to the pipelines of all API services, and
// completes the declarations of an operator with the values that follow from them.
package kit

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/policy"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Steps are the steps of a service with a database, in passes of type S, that need at most
// this and the schema in it.
type Steps[S service.Scoped] struct {
	Stateless[S]
	// Schema declares the database and its schema.
	Schema schema.Schema
}

// Secrets finds the credentials of the database, see [database.ReconcileSecret].
func (Steps[S]) Secrets() reconcile.Step[S] {
	return reconcile.Step[S]{
		Name: "Secrets", Condition: vocabulary.ConditionSecretsReady, Run: service.On[S](database.ReconcileSecret),
		Sets: []reconcile.Value{database.CredentialsOf},
	}
}

// DatabaseTLS gets the certificate of a client, see [database.Database.ReconcileTLS].
func (k Steps[S]) DatabaseTLS() reconcile.Step[S] {
	return reconcile.Step[S]{
		Name: "DatabaseTLS", Condition: vocabulary.ConditionDatabaseTLSReady, Run: service.On[S](k.Schema.Database.ReconcileTLS),
	}
}

// DatabaseConnection writes the URL of the database, see [database.Database.ReconcileConnection].
func (k Steps[S]) DatabaseConnection() reconcile.Step[S] {
	return reconcile.Step[S]{
		Name: "DBConnectionSecret", Condition: vocabulary.ConditionSecretsReady, Run: service.On[S](k.Schema.Database.ReconcileConnection),
		Reads: []reconcile.Value{database.CredentialsOf}, Sets: []reconcile.Value{database.Connection},
		Needs: []string{"Secrets"},
	}
}

// Database installs and upgrades the schema, see [schema.Schema.Reconcile].
func (k Steps[S]) Database() reconcile.Step[S] {
	return reconcile.Step[S]{
		Name: "Database", Condition: vocabulary.ConditionDatabaseReady, Run: service.On[S](k.Schema.Reconcile),
		Reads:    []reconcile.Value{database.CredentialsOf, database.Connection, service.Config},
		Needs:    []string{"DBConnectionSecret", "DatabaseTLS", "Config"},
		Announce: []string{vocabulary.ReasonDatabaseSynced},
	}
}

// PolicyValidation tries the rules of spec.policy with the image, see [policy.ReconcileValidation].
func (Steps[S]) PolicyValidation() reconcile.Step[S] {
	return afterConfig(reconcile.Step[S]{
		Name: "PolicyValidation", Condition: vocabulary.ConditionPolicyValidReady, Run: service.On[S](policy.ReconcileValidation),
	})
}

// Deployment runs the pods once the database, the configuration and the rules are fit for them.
func (k Steps[S]) Deployment(api deployment.API[S]) reconcile.Step[S] {
	return k.Stateless.Deployment(api).Reading(database.Connection).Needing("Database", "PolicyValidation")
}

// FinalizeDatabase is the stage of deletion that decides about the database, see [database.Finalize].
func (Steps[S]) FinalizeDatabase(finalizer string) reconcile.Finalizer[S] {
	return reconcile.Finalizer[S]{
		Name: finalizer,
		Step: reconcile.Step[S]{Name: "Database", Condition: vocabulary.ConditionDatabaseReady, Run: service.On[S](database.Finalize)},
	}
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
