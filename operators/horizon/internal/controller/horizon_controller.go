// Package controller is the controller of the Horizon kind. This file is the map of it:
// the service that it runs, the steps in order, the condition each owns and what each needs.
package controller

import (
	"github.com/c5c3/forge/internal/common/apiservice"
	"github.com/c5c3/forge/internal/common/reconcile"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
	"github.com/c5c3/forge/operators/horizon/internal/metrics"
)

// The permissions of the operator. The chart's roles are generated from these markers.
//
// +kubebuilder:rbac:groups=horizon.openstack.c5c3.io,resources=horizons,verbs=list;watch;patch
// +kubebuilder:rbac:groups=horizon.openstack.c5c3.io,resources=horizons/status,verbs=update
// +kubebuilder:rbac:groups=horizon.openstack.c5c3.io,resources=horizons/finalizers,verbs=update
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
// +kubebuilder:rbac:groups=external-secrets.io,resources=clustersecretstores,verbs=list;watch
// +kubebuilder:rbac:groups=external-secrets.io,resources=externalsecrets,verbs=list;watch
// +kubebuilder:rbac:groups=scheduling.k8s.io,resources=priorityclasses,verbs=get

// pipeline lists the steps of a pass in order.
var pipeline = reconcile.Pipeline[*scope]{
	{
		Name: "SecretKey", Condition: horizonv1alpha1.ConditionSecretKeyReady, Run: reconcileSecretKey,
		Sets: []reconcile.Value{secretKey},
	},
	steps.Config(settings),
	steps.ConfigCheck(settings).Reading(secretKey).Needing("SecretKey"),
	steps.NetworkPolicies(),
	steps.Deployment(api).Reading(secretKey).Needing("SecretKey"),
	steps.Route(),
	steps.HealthCheck(horizonv1alpha1.ConditionHorizonAPIReady, loginPage),
	steps.Autoscaler(),
}

// finalizers lists the stages of deletion.
var finalizers = []reconcile.Finalizer[*scope]{
	{
		Name: "horizon.openstack.c5c3.io/finalizer",
		Step: reconcile.Step[*scope]{
			Name: "SecretKey", Condition: horizonv1alpha1.ConditionSecretKeyReady, Run: finalizeSecretKey,
		},
	},
}

// Controller declares the controller of Horizons.
var Controller = apiservice.Controller[*horizonv1alpha1.Horizon, struct{}]{
	Definition:  &definition,
	Metrics:     metrics.Operator,
	For:         &horizonv1alpha1.Horizon{},
	List:        &horizonv1alpha1.HorizonList{},
	AddToScheme: horizonv1alpha1.AddToScheme,
	Guard:       guard,
	Outdated:    horizonv1alpha1.Outdated,
	Pipeline:    pipeline,
	Finalizers:  finalizers,
	SecretRefs:  secretRefs,
}

// Outlines describes the controllers of this operator for the documentation.
var Outlines = Controller.Outlines

// guard applies the defaults and rules of the webhooks, for installations without them.
func guard(h *horizonv1alpha1.Horizon) error {
	horizonv1alpha1.SetDefaults(h)
	return horizonv1alpha1.Validate(h).ToAggregate()
}

// secretRefs are the Secret with the key that users have given, or the name under which they
// may restore the one of the operator.
func secretRefs(h *horizonv1alpha1.Horizon) []string {
	if h.Spec.SecretKeyRef != nil {
		return []string{h.Spec.SecretKeyRef.Name}
	}
	return []string{horizonv1alpha1.SecretKeyName(h.Name)}
}
