// Package controller has the controllers of Keystones and of KeystoneIdentityBackends. This file is the map of it:
// the steps in order, the condition each owns and what each needs. Every step that is
// specific to Keystone has its own file.
package controller

import (
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/health"
	"github.com/c5c3/forge/internal/common/keysecret"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/login"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/password"
)

// The permissions of the operator. The chart's roles are generated from these
// markers.
//
// +kubebuilder:rbac:groups=keystone.openstack.c5c3.io,resources=keystones,verbs=list;watch;patch
// +kubebuilder:rbac:groups=keystone.openstack.c5c3.io,resources=keystones/status,verbs=update
// +kubebuilder:rbac:groups=keystone.openstack.c5c3.io,resources=keystones/finalizers,verbs=update
// +kubebuilder:rbac:groups=keystone.openstack.c5c3.io,resources=keystoneidentitybackends,verbs=list;watch;patch
// +kubebuilder:rbac:groups=keystone.openstack.c5c3.io,resources=keystoneidentitybackends/status,verbs=update
// +kubebuilder:rbac:groups=keystone.openstack.c5c3.io,resources=keystoneidentitybackends/finalizers,verbs=update
// +kubebuilder:rbac:groups=placement.openstack.c5c3.io,resources=placements,verbs=list;watch
// +kubebuilder:rbac:groups=barbican.openstack.c5c3.io,resources=barbicans,verbs=list;watch
// +kubebuilder:rbac:groups=glance.openstack.c5c3.io,resources=glances,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs;cronjobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=mariadbs,verbs=get;list;watch
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=databases;users;grants,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=external-secrets.io,resources=clustersecretstores,verbs=list;watch
// +kubebuilder:rbac:groups=external-secrets.io,resources=externalsecrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=external-secrets.io,resources=pushsecrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=scheduling.k8s.io,resources=priorityclasses,verbs=get

// pipeline lists the steps of a pass in order.
var pipeline = reconcile.Pipeline[*pass.Scope]{
	{
		Name: "Secrets", Condition: vocabulary.ConditionSecretsReady, Run: reconcileSecrets,
		Sets: []reconcile.Value{database.CredentialsOf, pass.AdminPassword},
	},
	steps.DatabaseTLS(),
	steps.DatabaseConnection(),
	{
		Name: "IdentityBackends", Condition: keystonev1alpha1.ConditionIdentityBackendsReady, Run: reconcileIdentityBackends,
		Sets: []reconcile.Value{identityBackends.Accepted, identityBackends.Unverified, proxyPassphrase, keyPair}, Informational: true,
	},
	steps.Config(settings).Reading(identityBackends.Accepted, keyPair).Needing("IdentityBackends"),
	steps.ConfigCheck(settings),
	steps.Logging(),
	{
		Name: "Installation", Condition: vocabulary.ConditionDatabaseReady, Run: reconcileInstallation,
		Sets:  []reconcile.Value{keysecret.Mounted, keysecret.DatabaseContent},
		Reads: []reconcile.Value{service.Config, database.Connection},
		Needs: []string{"DBConnectionSecret", "DatabaseTLS", "Config"},
	},
	{
		Name: "FernetKeys", Condition: keystonev1alpha1.ConditionFernetKeysReady, Run: keys.Fernet.Reconcile,
		Reads: []reconcile.Value{service.Config, keysecret.DatabaseContent},
	},
	{
		Name: "CredentialKeys", Condition: keystonev1alpha1.ConditionCredentialKeysReady, Run: keys.Credential.Reconcile,
		Reads: []reconcile.Value{service.Config, keysecret.DatabaseContent},
	},
	{
		Name: "KeyBackup", Condition: vocabulary.ConditionBackupHealthy, Run: keys.ReconcileBackup,
		Informational: true,
	},
	steps.NetworkPolicies(),
	steps.Database().Reading(keysecret.Mounted).Needing("FernetKeys", "CredentialKeys"),
	{
		Name: "IdentityDomains", Condition: keystonev1alpha1.ConditionIdentityBackendsReady, Run: verifyIdentityBackends,
		Reads: []reconcile.Value{service.Config, database.Connection, identityBackends.Unverified},
		Needs: []string{"IdentityBackends", "Database"}, Informational: true,
	},
	steps.Image(),
	steps.PolicyValidation(),
	steps.Deployment(api).Reading(identityBackends.Accepted, proxyPassphrase),
	{
		Name: "IdentityBackendsInUse", Condition: keystonev1alpha1.ConditionIdentityBackendsReady, Run: followIdentityBackends,
		Reads: []reconcile.Value{service.Config, database.Connection, identityBackends.Accepted, identityBackends.Unverified},
		Needs: []string{"IdentityDomains", "Deployment"}, Informational: true,
	},
	steps.Route(),
	{
		Name: "HealthCheck", Condition: keystonev1alpha1.ConditionKeystoneAPIReady, Run: login.ReconcileHealth,
		Sets: []reconcile.Value{health.RolloutOf},
	},
	steps.Autoscaler(),
	{
		Name: "Bootstrap", Condition: keystonev1alpha1.ConditionBootstrapReady, Run: reconcileBootstrap,
		Sets:     []reconcile.Value{pass.BootstrapJob, pass.PasswordRefused},
		Reads:    []reconcile.Value{service.Config, database.Connection, pass.AdminPassword},
		Needs:    []string{"Database"},
		Announce: []string{keystonev1alpha1.ReasonBootstrapComplete},
	},
	{
		Name: "Login", Condition: keystonev1alpha1.ConditionKeystoneAPIReady, Run: login.Reconcile,
		Reads: []reconcile.Value{service.Config, pass.AdminPassword, health.RolloutOf, pass.BootstrapJob},
	},
	{
		Name: "TrustFlush", Condition: keystonev1alpha1.ConditionTrustFlushReady, Run: reconcileTrustFlush,
		Reads: []reconcile.Value{service.Config, database.Connection},
		Needs: []string{"Database"},
	},
	{
		Name: "FernetRotation", Condition: keystonev1alpha1.ConditionFernetKeysReady, Run: keys.Fernet.ReconcileRotation,
		Reads: []reconcile.Value{service.Config, database.Connection},
	},
	{
		Name: "CredentialRotation", Condition: keystonev1alpha1.ConditionCredentialKeysReady, Run: keys.Credential.ReconcileRotation,
		Reads: []reconcile.Value{service.Config, database.Connection},
	},
	{
		Name: "PasswordRotation", Condition: keystonev1alpha1.ConditionPasswordRotationReady, Run: password.Reconcile,
		Reads: []reconcile.Value{service.Config, database.Connection, pass.BootstrapJob, pass.PasswordRefused},
	},
}

// finalizers lists the stages of deletion.
var finalizers = []reconcile.Finalizer[*pass.Scope]{
	steps.FinalizeDatabase(databaseFinalizer),
	{
		Name: keys.Finalizer,
		Step: reconcile.Step[*pass.Scope]{
			Name: "KeyBackup", Condition: vocabulary.ConditionSecretsReady, Run: keys.Finalize,
		},
	},
}

// databaseFinalizer protects the database and its user in a MariaDB.
const databaseFinalizer = "keystone.openstack.c5c3.io/finalizer"

// guard applies the defaults and rules of the webhooks, for installations without them.
func guard(k *keystonev1alpha1.Keystone) error {
	keystonev1alpha1.SetDefaults(k)
	return keystonev1alpha1.Validate(k).ToAggregate()
}
