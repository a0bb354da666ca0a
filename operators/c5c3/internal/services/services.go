// Package services declares the OpenStack services that a control plane can have, each in
// its own file. It also has the steps that they have in common: for their resources,
// their users in Keystone and their entries in the catalog.
package services

import (
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// List is the list of services, for everything that concerns all of them.
type List []Service

// Service declares what a control plane knows about one OpenStack service.
type Service struct {
	// name is the field in spec.services, and the name in status.services and the
	// catalog.
	name string
	// Kind is the kind of the service's resource. Messages refer to the service by it,
	// and it is the name of the service's step.
	Kind        schema.GroupVersionKind
	AddToScheme func(*runtime.Scheme) error

	// condition is the condition of the service's step.
	condition string
	reasons   reasons
	// needs are the steps that have to be done first. heldBack is the reason while
	// one is not.
	needs    []string
	heldBack string

	// wanted reports whether the control plane has the service.
	wanted func(*c5c3v1alpha1.ControlPlane) bool
	// image returns the image set by a control plane with the service, nil for the
	// default with the release of the control plane.
	image func(*c5c3v1alpha1.ControlPlane) *commonv1.ImageSpec
	// childName returns the name of the service's resource, and of its Database in a
	// managed MariaDB.
	childName func(*c5c3v1alpha1.ControlPlane) string
	// Empty returns an empty resource, child the resource with the fields that the
	// control plane sets.
	Empty func() child
	child func(*c5c3v1alpha1.ControlPlane, given) (child, error)
	// allowDeletion is the annotation that allows the deletion of the resource when the
	// service is no longer wanted. It is "" for a service without data, whose resource goes
	// at once.
	allowDeletion string
	// Parts are resources that belong to that resource. It is nil for a service without.
	Parts *Parts
	// Database is nil for a service without one.
	Database *Database
	// pods selects the pods of all resources of the kind, which use the cache and the
	// Identity service.
	pods func() *metav1.LabelSelector
	// clients builds the policy that allows pods of other namespaces to reach a service
	// that restricts its clients. It is nil if there are no such pods.
	clients func(cp *c5c3v1alpha1.ControlPlane, namespaces []string) *networkingv1.NetworkPolicy

	// hasUser reports whether the service asks Keystone about its clients as a user of its
	// own. The resource is then a [commonv1.ServiceUserDescriber].
	hasUser bool
	// usesTrusts reports whether the service acts on trusts of its own users, as its user.
	// Keystone refuses that to an application credential, so such a service has a password.
	usesTrusts bool

	// catalogType is the type in the catalog, such as "identity". It is "" for a service that
	// clients do not look up there, which has no endpoints.
	catalogType string
	endpoints   []endpoint

	// domains returns what the resource says of logins. It is nil for services other than the
	// Identity service.
	domains func(child) []identityDomain
}

// Database declares the database of a service on the server of the control plane.
type Database struct {
	// Secret returns the Secret with its user and password, Path their path in the secret
	// store if the operator creates the database.
	Secret func(*c5c3v1alpha1.ControlPlane) string
	Path   func(cluster.Settings, *c5c3v1alpha1.ControlPlane) string
	name   func(*c5c3v1alpha1.ControlPlane) string

	// keys returns the Secrets with keys that open what the database holds, apart from those of
	// the Identity service. They are in each backup. It is nil for a database without.
	keys func(*c5c3v1alpha1.ControlPlane) []string

	// runAgain is the annotation that makes the service's operator install the schema again.
	runAgain string
	// finalizer protects the database in a MariaDB that is deleted with the control plane.
	// stalled is the event if it is not dropped.
	finalizer, stalled string
}

// reasons are the reasons of a service's condition.
type reasons struct {
	ready, notManaged                                        string
	notInstalled, failed, rejected, rollBackRefused, waiting string
	finalizing                                               string
}

// given holds inputs of the service's resource other than its part of the spec.
type given struct {
	// login is the Secret of the service's user in Keystone, "" without one.
	login string
	// policy holds the rules of spec.global except those of other services.
	policy *commonv1.PolicySpec
	// domains are handed on by the Identity service.
	domains []identityDomain
}

// field returns the service's field in the spec.
func (svc Service) field() string { return "spec.services." + svc.name }

// Identity returns the service that K-ORC works on.
func (all List) Identity() Service { return all[0] }

// wantedBy returns the services that the control plane has.
func (all List) wantedBy(cp *c5c3v1alpha1.ControlPlane) List {
	return slices.DeleteFunc(slices.Clone(all), func(svc Service) bool { return !svc.wanted(cp) })
}

// withDatabase returns the services that have one.
func (all List) withDatabase() List {
	return slices.DeleteFunc(slices.Clone(all), func(svc Service) bool { return svc.Database == nil })
}

// WithCredentials returns the services whose database has credentials. It includes the
// Identity service even if the control plane does not have it: its database exists before
// and after it.
func (all List) WithCredentials(cp *c5c3v1alpha1.ControlPlane) List {
	return append(List{all.Identity()}, all[1:].wantedBy(cp).withDatabase()...)
}

// DatabaseSecrets returns the Secrets with the credentials of the services' databases.
func (all List) DatabaseSecrets(cp *c5c3v1alpha1.ControlPlane) []string {
	services := all.WithCredentials(cp)
	names := make([]string, 0, len(services))
	for _, svc := range services {
		names = append(names, svc.Database.Secret(cp))
	}
	return names
}

// Databases returns the names of the databases of the installed services.
func (all List) Databases(cp *c5c3v1alpha1.ControlPlane) []string {
	installed := all.InstalledIn(cp).withDatabase()
	names := make([]string, 0, len(installed))
	for _, svc := range installed {
		names = append(names, svc.Database.name(cp))
	}
	return names
}

// InstalledIn returns the services that the control plane has, and that are installed.
func (all List) InstalledIn(cp *c5c3v1alpha1.ControlPlane) List {
	return slices.DeleteFunc(all.wantedBy(cp), func(svc Service) bool { return svc.Installed(cp) == "" })
}

// KeySecrets returns the Secrets with keys that open the databases of the control plane's
// services, apart from those of the Identity service.
func (all List) KeySecrets(cp *c5c3v1alpha1.ControlPlane) []string {
	var names []string
	for _, svc := range all.wantedBy(cp).withDatabase() {
		if svc.Database.keys != nil {
			names = append(names, svc.Database.keys(cp)...)
		}
	}
	return names
}

// Installed returns the installed release of the service, with the suffix of its image tag,
// and "" before the first.
func (svc Service) Installed(cp *c5c3v1alpha1.ControlPlane) string {
	for _, status := range cp.Status.Services {
		if status.Name == svc.name {
			return status.Release
		}
	}
	return ""
}

// Hold reports whether a resource of a service has, or will have, a Secret of the name.
func (all List) Hold(secret string, cp *c5c3v1alpha1.ControlPlane) bool {
	return slices.ContainsFunc(all, func(svc Service) bool { return strings.HasPrefix(secret, svc.childName(cp)+"-") })
}

// endpoint is an endpoint of a service in the catalog.
type endpoint struct {
	// interfaceName is "public", "internal" or "admin".
	interfaceName string
	url           func(cluster.Settings, *c5c3v1alpha1.ControlPlane) string
}

// StepInfrastructure, StepRestore and StepAdminCredential are steps that those of services need.
const (
	StepInfrastructure  = "Infrastructure"
	StepRestore         = "Restore"
	StepAdminCredential = "AdminCredential"
)
