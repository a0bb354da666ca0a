// Package controller is the controller of the ControlPlane kind. This file is its map:
// the steps in order, the condition that each owns and what each needs. The steps are in
// other packages, which do not depend on this one.
package controller

import (
	"context"
	"slices"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/appcredential"
	"github.com/c5c3/forge/operators/c5c3/internal/backup"
	"github.com/c5c3/forge/operators/c5c3/internal/infrastructure"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
	"github.com/c5c3/forge/operators/c5c3/internal/teardown"
)

// The permissions of the operator. Those for the resources of services are next to the
// declarations of the services. The chart's roles are generated from these markers.
//
// +kubebuilder:rbac:groups=c5c3.io,resources=controlplanes,verbs=list;watch;patch
// +kubebuilder:rbac:groups=c5c3.io,resources=controlplanes/status,verbs=update
// +kubebuilder:rbac:groups=c5c3.io,resources=controlplanes/finalizers,verbs=update
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=mariadbs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=databases,verbs=get
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=backups;restores,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=cronjobs,verbs=list;watch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups=memcached.c5c3.io,resources=memcacheds,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=external-secrets.io,resources=externalsecrets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=external-secrets.io,resources=clustersecretstores,verbs=list;watch
// +kubebuilder:rbac:groups=external-secrets.io,resources=pushsecrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=openstack.k-orc.cloud,resources=applicationcredentials;services;endpoints;users;domains;projects;roles,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=c5c3.io,resources=credentialrotations,verbs=list;watch
// +kubebuilder:rbac:groups=c5c3.io,resources=credentialrotations/status,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch

// pipeline lists the steps of a pass in order.
var pipeline = pipelineOf(services.All)

// pipelineOf puts the Identity service before K-ORC, which works on it, and the others
// after the credential, so that they can use what is created with it.
func pipelineOf(all services.List) reconcile.Pipeline[*pass.Pass] {
	return slices.Concat(beforeServices(all), all.Steps(all[:1]), withIdentity(all), all.Steps(all[1:]), afterServices(all))
}

func beforeServices(all services.List) reconcile.Pipeline[*pass.Pass] {
	return reconcile.Pipeline[*pass.Pass]{
		{
			Name: services.StepInfrastructure, Condition: c5c3v1alpha1.ConditionInfrastructureReady, Run: withAll(all, infrastructure.Reconcile),
		},
		{
			Name: "DBCredentials", Condition: c5c3v1alpha1.ConditionDBCredentialsReady,
			Run: withAll(all, infrastructure.ReconcileDatabaseCredentials),
		},
		{
			Name: "AdminPassword", Condition: c5c3v1alpha1.ConditionAdminPasswordReady, Run: infrastructure.ReconcileAdminPassword,
		},
		{
			Name: "KORCInputs", Condition: c5c3v1alpha1.ConditionKORCReady, Run: appcredential.ReconcileInputs,
			Sets: []reconcile.Value{pass.AdminPassword, pass.PasswordCloud},
		},
		{
			Name: services.StepRestore, Condition: c5c3v1alpha1.ConditionRestoreReady, Run: withAll(all, backup.ReconcileRestore),
			Needs: []string{services.StepInfrastructure}, HeldBack: c5c3v1alpha1.ReasonWaitingForInfrastructure,
			Announce: []string{c5c3v1alpha1.ReasonRestored},
		},
	}
}

func withIdentity(all services.List) reconcile.Pipeline[*pass.Pass] {
	return reconcile.Pipeline[*pass.Pass]{
		{
			Name: "KORC", Condition: c5c3v1alpha1.ConditionKORCReady, Run: appcredential.Reconcile,
			Sets:  []reconcile.Value{pass.AdminPassword, pass.PasswordCloud, appcredential.Credential},
			Needs: []string{"Keystone"}, HeldBack: c5c3v1alpha1.ReasonWaitingForKeystone,
		},
		{
			Name: "BootstrapResources", Condition: c5c3v1alpha1.ConditionKORCReady, Run: all.ReconcileBootstrapResources,
			Reads: []reconcile.Value{pass.PasswordCloud},
			Needs: []string{"Keystone"}, HeldBack: c5c3v1alpha1.ReasonWaitingForKeystone,
		},
		{
			Name: services.StepAdminCredential, Condition: c5c3v1alpha1.ConditionAdminCredentialReady, Run: appcredential.ReconcileDelivery,
			Reads: []reconcile.Value{appcredential.Credential, pass.AdminPassword},
			Sets:  []reconcile.Value{pass.AdminCredential},
			Needs: []string{"KORC"}, HeldBack: c5c3v1alpha1.ReasonWaitingForKORC,
		},
	}
}

func afterServices(all services.List) reconcile.Pipeline[*pass.Pass] {
	return reconcile.Pipeline[*pass.Pass]{
		{
			Name: "Catalog", Condition: c5c3v1alpha1.ConditionCatalogReady, Run: all.ReconcileCatalog,
			Reads: []reconcile.Value{pass.AdminPassword, pass.AdminCredential},
			Needs: []string{services.StepAdminCredential}, HeldBack: c5c3v1alpha1.ReasonWaitingForAdminCredential,
		},
		{
			Name: "IdentityBackends", Condition: c5c3v1alpha1.ConditionIdentityBackendsReady, Run: all.ReconcileIdentityBackends,
			Informational: true,
		},
		{
			Name: "Backup", Condition: c5c3v1alpha1.ConditionBackupReady, Run: withAll(all, backup.Reconcile), Informational: true,
			Needs: []string{services.StepInfrastructure}, HeldBack: c5c3v1alpha1.ReasonWaitingForInfrastructure,
		},
	}
}

// withAll adapts a step that takes all services.
func withAll(
	all services.List, step func(context.Context, *pass.Pass, services.List) reconcile.Outcome,
) func(context.Context, *pass.Pass) reconcile.Outcome {
	return func(ctx context.Context, s *pass.Pass) reconcile.Outcome { return step(ctx, s, all) }
}

// finalizers lists the stages of deletion.
var finalizers = append([]reconcile.Finalizer[*pass.Pass]{{
	Name: teardown.Finalizer,
	Step: reconcile.Step[*pass.Pass]{
		Name: "KORC", Condition: c5c3v1alpha1.ConditionKORCReady, Run: withAll(services.All, teardown.Finalize),
		Reads: []reconcile.Value{pass.AdminPassword},
	},
}}, services.All.Finalizers()...)

// guard applies the defaults and rules of the webhooks, for installations without them.
func guard(cp *c5c3v1alpha1.ControlPlane) error {
	c5c3v1alpha1.SetDefaults(cp)
	return c5c3v1alpha1.Validate(cp).ToAggregate()
}
