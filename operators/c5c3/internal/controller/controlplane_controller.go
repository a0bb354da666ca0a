// Package controller is the controller of the ControlPlane kind. This file is
// the map of it: the steps in order, the condition each owns and what each
// needs. Every step is a file of its own.
package controller

import (
	"slices"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// The permissions of the operator. Those on the resources of services stand beside
// the declarations of the services. The chart's roles are generated from the markers.
//
// +kubebuilder:rbac:groups=c5c3.io,resources=controlplanes,verbs=list;watch;patch
// +kubebuilder:rbac:groups=c5c3.io,resources=controlplanes/status,verbs=update
// +kubebuilder:rbac:groups=c5c3.io,resources=controlplanes/finalizers,verbs=update
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=mariadbs,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=databases,verbs=get
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

// stepInfrastructure and stepAdminCredential are steps that those of services need.
const (
	stepInfrastructure  = "Infrastructure"
	stepAdminCredential = "AdminCredential"
)

// pipeline is what one pass does, in order.
var pipeline = services.pipeline()

// pipeline has the Identity service before K-ORC, which works on it, and the others
// after the credential, so that they can have what is made with it.
func (all serviceList) pipeline() reconcile.Pipeline[*scope] {
	return slices.Concat(all.beforeServices(), all.steps(all[:1]), all.withIdentity(), all.steps(all[1:]), all.afterServices())
}

func (all serviceList) beforeServices() reconcile.Pipeline[*scope] {
	return reconcile.Pipeline[*scope]{
		{
			Name: stepInfrastructure, Condition: c5c3v1alpha1.ConditionInfrastructureReady, Run: all.reconcileInfrastructure,
		},
		{
			Name: "DBCredentials", Condition: c5c3v1alpha1.ConditionDBCredentialsReady, Run: all.reconcileDBCredentials,
		},
		{
			Name: "AdminPassword", Condition: c5c3v1alpha1.ConditionAdminPasswordReady, Run: reconcileAdminPassword,
		},
		{
			Name: "KORCInputs", Condition: c5c3v1alpha1.ConditionKORCReady, Run: reconcileKORCInputs,
			Sets: []reconcile.Value{adminPassword, passwordCloud},
		},
	}
}

func (all serviceList) withIdentity() reconcile.Pipeline[*scope] {
	return reconcile.Pipeline[*scope]{
		{
			Name: "KORC", Condition: c5c3v1alpha1.ConditionKORCReady, Run: reconcileKORC,
			Sets:  []reconcile.Value{adminPassword, passwordCloud, heldCredential},
			Needs: []string{"Keystone"}, HeldBack: c5c3v1alpha1.ReasonWaitingForKeystone,
		},
		{
			Name: "BootstrapResources", Condition: c5c3v1alpha1.ConditionKORCReady, Run: all.reconcileBootstrapResources,
			Reads: []reconcile.Value{passwordCloud},
			Needs: []string{"Keystone"}, HeldBack: c5c3v1alpha1.ReasonWaitingForKeystone,
		},
		{
			Name: stepAdminCredential, Condition: c5c3v1alpha1.ConditionAdminCredentialReady, Run: reconcileAdminCredential,
			Reads: []reconcile.Value{heldCredential, adminPassword},
			Needs: []string{"KORC"}, HeldBack: c5c3v1alpha1.ReasonWaitingForKORC,
		},
	}
}

func (all serviceList) afterServices() reconcile.Pipeline[*scope] {
	return reconcile.Pipeline[*scope]{
		{
			Name: "Catalog", Condition: c5c3v1alpha1.ConditionCatalogReady, Run: all.reconcileCatalog,
			Reads: []reconcile.Value{adminPassword},
			Needs: []string{stepAdminCredential}, HeldBack: c5c3v1alpha1.ReasonWaitingForAdminCredential,
		},
	}
}

// finalizers are the stages of deletion.
var finalizers = append([]reconcile.Finalizer[*scope]{{
	Name: orcFinalizer,
	Step: reconcile.Step[*scope]{
		Name: "KORC", Condition: c5c3v1alpha1.ConditionKORCReady, Run: services.finalizeKORC,
		Reads: []reconcile.Value{adminPassword},
	},
}}, services.finalizers()...)

// fieldManager owns what a control plane sets on the resources of other
// operators, and on what goes with them. It is not the one those operators use on
// their own children.
const fieldManager = "c5c3-operator"

// guard repeats what the webhooks do, for installations without them.
func guard(cp *c5c3v1alpha1.ControlPlane) error {
	c5c3v1alpha1.SetDefaults(cp)
	return c5c3v1alpha1.Validate(cp).ToAggregate()
}
