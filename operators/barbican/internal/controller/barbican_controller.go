// Package controller has the controllers of Barbicans and of BarbicanSecretStores. This file is the map of it:
// the service that it runs, the steps in order, the condition each owns and what each needs.
package controller

import (
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/apiservice"
	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/keyring"
	"github.com/c5c3/forge/internal/common/keysecret"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	"github.com/c5c3/forge/operators/barbican/internal/metrics"
)

// The permissions of the operator. The chart's roles are generated from these markers.
//
// +kubebuilder:rbac:groups=barbican.openstack.c5c3.io,resources=barbicans,verbs=list;watch;patch
// +kubebuilder:rbac:groups=barbican.openstack.c5c3.io,resources=barbicans/status,verbs=update
// +kubebuilder:rbac:groups=barbican.openstack.c5c3.io,resources=barbicans/finalizers,verbs=update
// +kubebuilder:rbac:groups=barbican.openstack.c5c3.io,resources=barbicansecretstores,verbs=list;watch;patch
// +kubebuilder:rbac:groups=barbican.openstack.c5c3.io,resources=barbicansecretstores/status,verbs=update
// +kubebuilder:rbac:groups=barbican.openstack.c5c3.io,resources=barbicansecretstores/finalizers,verbs=update
// +kubebuilder:rbac:groups=keystone.openstack.c5c3.io,resources=keystones,verbs=list;watch
// +kubebuilder:rbac:groups=placement.openstack.c5c3.io,resources=placements,verbs=list;watch
// +kubebuilder:rbac:groups=glance.openstack.c5c3.io,resources=glances,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch
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
var pipeline = reconcile.Pipeline[*scope]{
	steps.Secrets(),
	steps.DatabaseTLS(),
	steps.DatabaseConnection(),
	{
		Name: "SecretStores", Condition: barbicanv1alpha1.ConditionSecretStoresReady, Run: service.On[*scope](stores.Reconcile),
		Sets: []reconcile.Value{stores.Accepted},
	},
	steps.Config(settings).Reading(stores.Accepted).Needing("SecretStores"),
	steps.ConfigCheck(settings),
	steps.Logging(),
	steps.ServiceUser(),
	{
		Name: "Installation", Condition: vocabulary.ConditionDatabaseReady, Run: reconcileInstallation,
		Sets:  []reconcile.Value{keysecret.Mounted, keysecret.DatabaseContent},
		Reads: []reconcile.Value{service.Config, database.Connection},
		Needs: []string{"DBConnectionSecret", "DatabaseTLS", "Config"},
	},
	{
		Name: "Key", Condition: barbicanv1alpha1.ConditionKeyReady, Run: service.On[*scope](rotation.Reconcile),
		Sets: []reconcile.Value{keyring.InUse}, Reads: []reconcile.Value{keysecret.DatabaseContent},
	},
	{
		Name: "KeyBackup", Condition: vocabulary.ConditionBackupHealthy, Run: service.On[*scope](keys.BackUp), Informational: true,
	},
	steps.NetworkPolicies(),
	steps.Database().Reading(keysecret.Mounted).Needing("Key"),
	steps.Image(),
	steps.PolicyValidation(),
	steps.Deployment(api).Reading(keyring.InUse, stores.Accepted).Needing("ServiceUser"),
	{
		Name: "SecretStoresInUse", Condition: barbicanv1alpha1.ConditionSecretStoresReady, Run: service.On[*scope](stores.Follow),
		Reads: []reconcile.Value{database.Connection, service.Config, stores.Accepted}, Needs: []string{"Deployment"},
	},
	steps.Route(),
	steps.HealthCheck(barbicanv1alpha1.ConditionBarbicanAPIReady, healthURL),
	steps.Autoscaler(),
	{
		Name: "CleanUp", Condition: vocabulary.ConditionCleanUpReady, Run: service.On[*scope](cleanUp.Reconcile),
		Reads: []reconcile.Value{service.Config, database.Connection}, Needs: []string{"Database"},
	},
	{
		Name: "KeyRotation", Condition: barbicanv1alpha1.ConditionKeyReady, Run: service.On[*scope](rotation.Rotate),
		Reads: []reconcile.Value{service.Config, database.Connection, keyring.InUse},
	},
}

// finalizers lists the stages of deletion.
var finalizers = []reconcile.Finalizer[*scope]{
	steps.FinalizeDatabase("barbican.openstack.c5c3.io/finalizer"),
	{
		Name: "barbican.openstack.c5c3.io/key-finalizer",
		Step: reconcile.Step[*scope]{
			Name: "KeyBackup", Condition: vocabulary.ConditionSecretsReady, Run: service.On[*scope](keys.Finalize),
		},
	},
}

// Controller declares the controllers of Barbicans and of their secret stores.
var Controller = apiservice.Controller[*barbicanv1alpha1.Barbican, struct{}]{
	Definition:  &definition,
	Metrics:     metrics.Operator,
	For:         &barbicanv1alpha1.Barbican{},
	List:        &barbicanv1alpha1.BarbicanList{},
	AddToScheme: barbicanv1alpha1.AddToScheme,
	Guard:       guard,
	Outdated:    barbicanv1alpha1.Outdated,
	Pipeline:    pipeline,
	Finalizers:  finalizers,
	// A lost Secret may be restored without the labels by which it would be watched.
	SecretRefs: func(b *barbicanv1alpha1.Barbican) []string { return []string{barbicanv1alpha1.KeySecretName(b.Name)} },
	Kinds: []controller.Kind{
		{Object: &batchv1.CronJob{}},
		// It loses its controller in a foreground deletion.
		{Object: &esov1alpha1.PushSecret{}, Also: apiservice.Unowned, AddToScheme: esov1alpha1.AddToScheme, Optional: true},
	},
	Attached: []apiservice.Attached{stores.Controller()},
}

// Outlines describes the controllers of this operator for the documentation.
var Outlines = Controller.Outlines

// guard applies the defaults and rules of the webhooks, for installations without them.
func guard(b *barbicanv1alpha1.Barbican) error {
	barbicanv1alpha1.SetDefaults(b)
	return barbicanv1alpha1.Validate(b).ToAggregate()
}
