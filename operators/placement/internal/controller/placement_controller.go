// Package controller is the controller of the Placement kind. This file is the map of it:
// the service that it runs, the steps in order, the condition each owns and what each needs.
package controller

import (
	"github.com/c5c3/forge/internal/common/apiservice"
	"github.com/c5c3/forge/internal/common/reconcile"
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
	steps.Secrets(),
	steps.DatabaseTLS(),
	steps.DatabaseConnection(),
	steps.Config(settings),
	steps.ConfigCheck(settings),
	steps.Logging(),
	steps.ServiceUser(),
	steps.NetworkPolicies(),
	steps.Database(),
	steps.Image(),
	steps.PolicyValidation(),
	steps.Deployment(api).Needing("ServiceUser"),
	steps.Route(),
	steps.HealthCheck(placementv1alpha1.ConditionPlacementAPIReady, internalEndpoint),
	steps.Autoscaler(),
}

// finalizers lists the stages of deletion.
var finalizers = []reconcile.Finalizer[*scope]{
	steps.FinalizeDatabase("placement.openstack.c5c3.io/finalizer"),
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
