// Package services has the OpenStack services that a control plane can have, each declared
// in a file of its own, and the steps that are the same for all: their resources, their
// users in Keystone and their entries in the catalog.
package services

import (
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// List is what everything that concerns all services loops over.
type List []Service

// Service is what a control plane knows about one OpenStack service: a
// declaration in a file of its own.
type Service struct {
	// name is the field in spec.services, and the service's name in status.services
	// and in the catalog.
	name string
	// Kind is the kind of the service's resource. Messages call the service by it,
	// and it is the name of the service's step.
	Kind        schema.GroupVersionKind
	AddToScheme func(*runtime.Scheme) error

	// condition is the one that the step owns.
	condition string
	reasons   reasons
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
	// Empty is a resource to read into, and child what the control plane sets on it.
	Empty func() child
	child func(*c5c3v1alpha1.ControlPlane, given) (child, error)
	// allowDeletion is the annotation with which the resource is deleted when the
	// service is no longer wanted.
	allowDeletion string

	// DatabaseSecret is the Secret with the user and the password of the service's
	// database, and DatabasePath where they are in the secret store when the operator
	// creates it.
	DatabaseSecret func(*c5c3v1alpha1.ControlPlane) string
	DatabasePath   func(cluster.Settings, *c5c3v1alpha1.ControlPlane) string
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

// reasons are the reasons of a service's condition.
type reasons struct {
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
func (svc Service) field() string { return "spec.services." + svc.name }

// Identity is the service that K-ORC works on.
func (all List) Identity() Service { return all[0] }

// wantedBy are the services that the control plane has.
func (all List) wantedBy(cp *c5c3v1alpha1.ControlPlane) List {
	return slices.DeleteFunc(slices.Clone(all), func(svc Service) bool { return !svc.wanted(cp) })
}

// WithDatabase are the services whose database has credentials. The Identity
// service is among them also when the control plane does not have it: its database
// is there before and after it.
func (all List) WithDatabase(cp *c5c3v1alpha1.ControlPlane) List {
	return append(List{all.Identity()}, all[1:].wantedBy(cp)...)
}

// DatabaseSecrets are the Secrets with the credentials of the services' databases.
func (all List) DatabaseSecrets(cp *c5c3v1alpha1.ControlPlane) []string {
	services := all.WithDatabase(cp)
	names := make([]string, 0, len(services))
	for _, svc := range services {
		names = append(names, svc.DatabaseSecret(cp))
	}
	return names
}

// Hold reports whether a resource of a service has, or will have, a Secret of the
// name.
func (all List) Hold(secret string, cp *c5c3v1alpha1.ControlPlane) bool {
	return slices.ContainsFunc(all, func(svc Service) bool { return strings.HasPrefix(secret, svc.childName(cp)+"-") })
}

// endpoint is an entry of a service in the catalog.
type endpoint struct {
	// interfaceName is "public", "internal" or "admin".
	interfaceName string
	url           func(cluster.Settings, *c5c3v1alpha1.ControlPlane) string
}

// serviceUser is the user with which a service asks Keystone about its clients.
type serviceUser struct {
	// secretOf is the Secret with the user's name and password that the service's
	// resource refers to, "" for none.
	secretOf func(child) string
}

// isReady passes over what the service's operator said about an earlier spec.
func isReady(child child) bool {
	ready := meta.FindStatusCondition(child.GetConditions(), vocabulary.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == child.GetGeneration()
}

// StepInfrastructure and StepAdminCredential are steps that those of services need.
const (
	StepInfrastructure  = "Infrastructure"
	StepAdminCredential = "AdminCredential"
)
