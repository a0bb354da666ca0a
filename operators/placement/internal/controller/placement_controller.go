// Package controller is the controller of the Placement kind. This file is the map of it:
// the service that it runs, the steps in order, the condition each owns and what each needs.
package controller

import (
	"github.com/c5c3/forge/internal/common/apiservice"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/health"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceuser"
	"github.com/c5c3/forge/internal/common/vocabulary"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
	"github.com/c5c3/forge/operators/placement/internal/metrics"
)

// The permissions of the operator. The chart's roles are generated from these markers.
//
// +kubebuilder:rbac:groups=placement.openstack.c5c3.io,resources=placements,verbs=list;watch;patch
// +kubebuilder:rbac:groups=placement.openstack.c5c3.io,resources=placements/status,verbs=update
// +kubebuilder:rbac:groups=placement.openstack.c5c3.io,resources=placements/finalizers,verbs=update
// +kubebuilder:rbac:groups=keystone.openstack.c5c3.io,resources=keystones,verbs=list;watch
// +kubebuilder:rbac:groups=barbican.openstack.c5c3.io,resources=barbicans,verbs=list;watch
// +kubebuilder:rbac:groups=glance.openstack.c5c3.io,resources=glances,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=cronjobs,verbs=list;watch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=mariadbs,verbs=get;list;watch
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=databases;users;grants,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=external-secrets.io,resources=clustersecretstores,verbs=list;watch
// +kubebuilder:rbac:groups=external-secrets.io,resources=externalsecrets,verbs=list;watch
// +kubebuilder:rbac:groups=scheduling.k8s.io,resources=priorityclasses,verbs=get

// pipeline lists the steps of a pass in order.
var pipeline = reconcile.Pipeline[*scope]{
	{
		Name: "Secrets", Condition: vocabulary.ConditionSecretsReady, Run: steps.DatabaseSecret,
		Sets: []reconcile.Value{database.CredentialsOf},
	},
	{
		Name: "DatabaseTLS", Condition: vocabulary.ConditionDatabaseTLSReady, Run: steps.DatabaseTLS,
	},
	{
		Name: "DBConnectionSecret", Condition: vocabulary.ConditionSecretsReady, Run: steps.DatabaseConnection,
		Reads: []reconcile.Value{database.CredentialsOf}, Sets: []reconcile.Value{database.Connection},
		Needs: []string{"Secrets"},
	},
	{
		Name: "Config", Condition: vocabulary.ConditionSecretsReady, Run: settings.Reconcile,
		Sets: []reconcile.Value{service.Config},
	},
	{
		Name: "ConfigCheck", Condition: vocabulary.ConditionSecretsReady, Run: settings.ReconcileCheck,
		Reads: []reconcile.Value{service.Config}, Needs: []string{"Config"},
	},
	{
		Name: "Logging", Condition: vocabulary.ConditionLoggingHealthy, Run: steps.Logging,
		Reads: []reconcile.Value{service.Config}, Needs: []string{"Config"}, Informational: true,
	},
	{
		Name: "ServiceUser", Condition: vocabulary.ConditionServiceUserReady, Run: serviceuser.Step[*scope]{}.Reconcile,
		Reads: []reconcile.Value{service.Config}, Needs: []string{"Config"},
	},
	{
		Name: "NetworkPolicy", Condition: vocabulary.ConditionNetworkPolicyReady, Run: steps.NetworkPolicies,
	},
	{
		Name: "Database", Condition: vocabulary.ConditionDatabaseReady, Run: steps.Database,
		Reads:    []reconcile.Value{database.CredentialsOf, database.Connection, service.Config},
		Needs:    []string{"DBConnectionSecret", "DatabaseTLS", "Config"},
		Announce: []string{vocabulary.ReasonDatabaseSynced},
	},
	{
		Name: "Image", Condition: vocabulary.ConditionReleaseConsistent, Run: steps.Image, Needs: []string{"Config"}, Informational: true,
	},
	{
		Name: "PolicyValidation", Condition: vocabulary.ConditionPolicyValidReady, Run: steps.PolicyValidation,
		Reads: []reconcile.Value{service.Config}, Needs: []string{"Config"},
	},
	{
		Name: "Deployment", Condition: vocabulary.ConditionDeploymentReady, Run: api.Reconcile,
		Reads: []reconcile.Value{database.Connection, service.Config},
		Needs: []string{"Database", "ConfigCheck", "ServiceUser", "PolicyValidation"},
	},
	{
		Name: "HTTPRoute", Condition: vocabulary.ConditionHTTPRouteReady, Run: steps.Route,
	},
	{
		Name: "HealthCheck", Condition: placementv1alpha1.ConditionPlacementAPIReady,
		Run:  health.Check[*scope]{Condition: placementv1alpha1.ConditionPlacementAPIReady, URL: internalEndpoint}.Reconcile,
		Sets: []reconcile.Value{health.RolloutOf},
	},
	{
		Name: "HPA", Condition: vocabulary.ConditionHPAReady, Run: steps.Autoscaler,
	},
}

// finalizers lists the stages of deletion.
var finalizers = []reconcile.Finalizer[*scope]{
	{
		Name: "placement.openstack.c5c3.io/finalizer",
		Step: reconcile.Step[*scope]{
			Name: "Database", Condition: vocabulary.ConditionDatabaseReady, Run: steps.FinalizeDatabase,
		},
	},
}

// Controller declares the controller of Placements.
var Controller = apiservice.Controller[*placementv1alpha1.Placement, struct{}]{
	Definition:  &definition,
	Metrics:     metrics.Operator,
	For:         &placementv1alpha1.Placement{},
	List:        &placementv1alpha1.PlacementList{},
	AddToScheme: placementv1alpha1.AddToScheme,
	Guard:       guard,
	Outdated:    placementv1alpha1.Outdated,
	Pipeline:    pipeline,
	Finalizers:  finalizers,
}

// Outlines describes the controllers of this operator for the documentation.
var Outlines = Controller.Outlines

// guard applies the defaults and rules of the webhooks, for installations without them.
func guard(p *placementv1alpha1.Placement) error {
	placementv1alpha1.SetDefaults(p)
	return placementv1alpha1.Validate(p).ToAggregate()
}
