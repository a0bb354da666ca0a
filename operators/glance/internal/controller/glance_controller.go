// Package controller has the controllers of Glances and of GlanceBackends. This file is the map of it:
// the service that it runs, the steps in order, the condition each owns and what each needs.
package controller

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/apiservice"
	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
	"github.com/c5c3/forge/operators/glance/internal/metrics"
)

// The permissions of the operator. The chart's roles are generated from these markers.
//
// +kubebuilder:rbac:groups=glance.openstack.c5c3.io,resources=glances,verbs=list;watch;patch
// +kubebuilder:rbac:groups=glance.openstack.c5c3.io,resources=glances/status,verbs=update
// +kubebuilder:rbac:groups=glance.openstack.c5c3.io,resources=glances/finalizers,verbs=update
// +kubebuilder:rbac:groups=glance.openstack.c5c3.io,resources=glancebackends,verbs=list;watch;patch
// +kubebuilder:rbac:groups=glance.openstack.c5c3.io,resources=glancebackends/status,verbs=update
// +kubebuilder:rbac:groups=glance.openstack.c5c3.io,resources=glancebackends/finalizers,verbs=update
// +kubebuilder:rbac:groups=keystone.openstack.c5c3.io,resources=keystones,verbs=list;watch
// +kubebuilder:rbac:groups=placement.openstack.c5c3.io,resources=placements,verbs=list;watch
// +kubebuilder:rbac:groups=barbican.openstack.c5c3.io,resources=barbicans,verbs=list;watch
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
// +kubebuilder:rbac:groups=external-secrets.io,resources=externalsecrets,verbs=list;watch
// +kubebuilder:rbac:groups=scheduling.k8s.io,resources=priorityclasses,verbs=get

// pipeline lists the steps of a pass in order.
var pipeline = reconcile.Pipeline[*scope]{
	steps.Secrets(),
	steps.DatabaseTLS(),
	steps.DatabaseConnection(),
	{
		Name: "Backends", Condition: glancev1alpha1.ConditionBackendsReady, Run: service.On[*scope](backends.Reconcile),
		Sets: []reconcile.Value{backends.Accepted},
	},
	steps.Config(settings).Reading(backends.Accepted).Needing("Backends"),
	steps.ConfigCheck(settings),
	steps.Logging(),
	steps.ServiceUser(),
	steps.NetworkPolicies(),
	steps.Database(),
	steps.Image(),
	steps.PolicyValidation(),
	steps.Deployment(api).Reading(backends.Accepted).Needing("ServiceUser"),
	{
		Name: "BackendsInUse", Condition: glancev1alpha1.ConditionBackendsReady, Run: service.On[*scope](backends.Follow),
		Reads: []reconcile.Value{database.Connection, service.Config, backends.Accepted}, Needs: []string{"Deployment"},
	},
	steps.Route(),
	steps.HealthCheck(glancev1alpha1.ConditionGlanceAPIReady, healthURL),
	steps.Autoscaler(),
	{
		Name: "CleanUp", Condition: vocabulary.ConditionCleanUpReady, Run: service.On[*scope](cleanUp.Reconcile),
		Reads: []reconcile.Value{service.Config, database.Connection}, Needs: []string{"Database"},
	},
}

// finalizers lists the stages of deletion.
var finalizers = []reconcile.Finalizer[*scope]{
	steps.FinalizeDatabase("glance.openstack.c5c3.io/finalizer"),
}

// Controller declares the controllers of Glances and of their backends.
var Controller = apiservice.Controller[*glancev1alpha1.Glance, struct{}]{
	Definition:  &definition,
	Metrics:     metrics.Operator,
	For:         &glancev1alpha1.Glance{},
	List:        &glancev1alpha1.GlanceList{},
	AddToScheme: glancev1alpha1.AddToScheme,
	Guard:       guard,
	Outdated:    glancev1alpha1.Outdated,
	Pipeline:    pipeline,
	Finalizers:  finalizers,
	Kinds:       []controller.Kind{{Object: &batchv1.CronJob{}}},
	Attached:    []apiservice.Attached{backends.Controller()},
}

// Outlines describes the controllers of this operator for the documentation.
var Outlines = Controller.Outlines

// guard applies the defaults and rules of the webhooks, for installations without them.
func guard(p *glancev1alpha1.Glance) error {
	glancev1alpha1.SetDefaults(p)
	return glancev1alpha1.Validate(p).ToAggregate()
}
