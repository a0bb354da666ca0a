package controller

import (
	"context"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// services are the OpenStack services that a control plane can have. The first is
// the Identity service: K-ORC works on it, and the others come when there is a
// credential for it.
var services = serviceList{keystoneService, placementService}

// serviceList is what everything that concerns all services loops over.
type serviceList []service

// service is what a control plane knows about one OpenStack service: a
// declaration in a file of its own.
type service struct {
	// name is the field in spec.services, and the service's name in status.services
	// and in the catalog.
	name string
	// kind is the kind of the service's resource. Messages call the service by it,
	// and it is the name of the service's step.
	kind        schema.GroupVersionKind
	addToScheme func(*runtime.Scheme) error

	// condition is the one that the step owns.
	condition string
	reasons   serviceReasons
	// needs are the steps that have to be done first. heldBack is the reason while
	// one is not.
	needs    []string
	heldBack string

	// wanted reports whether the control plane has the service.
	wanted func(*c5c3v1alpha1.ControlPlane) bool
	// image is the one that a control plane with the service sets, nil for the default
	// with the release of the control plane.
	image func(*c5c3v1alpha1.ControlPlane) *commonv1.ImageSpec
	// childName is the name of the service's resource, and of its Database in a
	// managed MariaDB.
	childName func(*c5c3v1alpha1.ControlPlane) string
	// empty is a resource to read into, and child what the control plane sets on it.
	empty func() child
	child func(*c5c3v1alpha1.ControlPlane, given) (child, error)
	// allowDeletion is the annotation with which the resource is deleted when the
	// service is no longer wanted.
	allowDeletion string

	// databaseSecret is the Secret with the user and the password of the service's
	// database, and databasePath where they are in the secret store when the operator
	// creates it.
	databaseSecret func(*c5c3v1alpha1.ControlPlane) string
	databasePath   func(cluster.Settings, *c5c3v1alpha1.ControlPlane) string
	// pods selects the pods of all resources of the kind, which use the cache and
	// the Identity service.
	pods func() *metav1.LabelSelector
	// clients lets the pods of some namespaces reach the API of a service that
	// restricts who does, nil when none has to.
	clients func(cp *c5c3v1alpha1.ControlPlane, namespaces []string) *networkingv1.NetworkPolicy

	// user is the user with which the service asks Keystone about its clients, nil for
	// none.
	user *serviceUser

	// catalogType is the type in the catalog, such as "identity".
	catalogType string
	endpoints   []endpoint

	// finalizer stands for the service's database in a MariaDB that goes with the
	// control plane, and stalled is the event when the database does not go.
	finalizer, stalled string
}

// serviceReasons are the reasons of a service's condition.
type serviceReasons struct {
	ready, notManaged                                        string
	notInstalled, failed, rejected, rollBackRefused, waiting string
	finalizing                                               string
}

// given is what the resource of a service gets beside what the spec says of it.
type given struct {
	// login is the Secret of the service's user in Keystone, "" without one.
	login string
	// policy are the rules of spec.global that are not another service's.
	policy *commonv1.PolicySpec
}

// child is the resource of a service, with what its operator says about it.
type child interface {
	client.Object
	GetConditions() []metav1.Condition
	// WantedRelease is the release that the spec asks for, InstalledRelease the one
	// that runs, "" for none yet, and TargetRelease the one of the upgrade that is
	// under way, "" for none.
	WantedRelease() string
	InstalledRelease() string
	TargetRelease() string
	// RefusesRollBack reports whether an upgrade was reverted too late.
	RefusesRollBack() bool
	// AsksForImageTag reports whether another image tag is what the resource needs.
	AsksForImageTag() bool
	// RestrictsClients reports whether the resource says who reaches its API.
	RestrictsClients() bool
}

// field is the service's field in the spec.
func (svc service) field() string { return "spec.services." + svc.name }

// identity is the service that K-ORC works on.
func (all serviceList) identity() service { return all[0] }

// wantedBy are the services that the control plane has.
func (all serviceList) wantedBy(cp *c5c3v1alpha1.ControlPlane) serviceList {
	return slices.DeleteFunc(slices.Clone(all), func(svc service) bool { return !svc.wanted(cp) })
}

// withDatabase are the services whose database has credentials. The Identity
// service is among them also when the control plane does not have it: its database
// is there before and after it.
func (all serviceList) withDatabase(cp *c5c3v1alpha1.ControlPlane) serviceList {
	return append(serviceList{all.identity()}, all[1:].wantedBy(cp)...)
}

// databaseSecrets are the Secrets with the credentials of the services' databases.
func (all serviceList) databaseSecrets(cp *c5c3v1alpha1.ControlPlane) []string {
	services := all.withDatabase(cp)
	names := make([]string, 0, len(services))
	for _, svc := range services {
		names = append(names, svc.databaseSecret(cp))
	}
	return names
}

// steps project some of the services, one step each.
func (all serviceList) steps(some serviceList) reconcile.Pipeline[*scope] {
	steps := make(reconcile.Pipeline[*scope], 0, len(some))
	for _, svc := range some {
		step := reconcile.Step[*scope]{
			Name: svc.kind.Kind, Condition: svc.condition, Needs: svc.needs, HeldBack: svc.heldBack,
			Run:  func(ctx context.Context, s *scope) reconcile.Outcome { return all.reconcile(ctx, s, svc) },
			Sets: []reconcile.Value{updateUnderWay},
		}
		if svc.user != nil {
			step.Reads = []reconcile.Value{passwordCloud, adminPassword}
		}
		steps = append(steps, step)
	}
	return steps
}

// finalizers remove the services, the Identity service last: the others log in to
// it.
func (all serviceList) finalizers() []reconcile.Finalizer[*scope] {
	var stages []reconcile.Finalizer[*scope]
	for _, svc := range slices.Backward(all) {
		stages = append(stages, reconcile.Finalizer[*scope]{
			Name: svc.finalizer,
			Step: reconcile.Step[*scope]{Name: svc.kind.Kind, Condition: svc.condition, Run: svc.finalize},
		})
	}
	return stages
}

// hold reports whether a resource of a service has, or will have, a Secret of the
// name.
func (all serviceList) hold(secret string, cp *c5c3v1alpha1.ControlPlane) bool {
	return slices.ContainsFunc(all, func(svc service) bool { return strings.HasPrefix(secret, svc.childName(cp)+"-") })
}
