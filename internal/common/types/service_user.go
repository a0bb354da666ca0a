package types

import (
	"net/url"
	"strconv"
)

// The defaults of an IdentitySpec, which its schema states as well.
const (
	DefaultServiceProject = "service"
	DefaultDomain         = "Default"
)

// CredentialIDKey and CredentialSecretKey are the keys of an application credential in the
// Secret of a service user, named like the options of a clouds.yaml.
const (
	CredentialIDKey     = "application_credential_id"
	CredentialSecretKey = "application_credential_secret"
)

// ServiceUser is the part of a spec about the user with which a service asks the Identity
// service about the tokens of its clients.
//
// +kubebuilder:object:generate=false
type ServiceUser struct {
	// Identity is the field spec.identity, SecretRef the field spec.serviceUserSecretRef.
	Identity  *IdentitySpec
	SecretRef *SecretRefSpec
}

// ServiceUserDescriber is a resource whose service has a service user.
//
// +kubebuilder:object:generate=false
type ServiceUserDescriber interface {
	// ServiceUser returns pointers to the fields of the spec.
	ServiceUser() ServiceUser
}

// ServiceUserOf returns the service user of a resource, and whether its service has one.
func ServiceUserOf(resource any) (user ServiceUser, has bool) {
	describer, has := resource.(ServiceUserDescriber)
	if !has {
		return ServiceUser{}, false
	}
	return describer.ServiceUser(), true
}

// SetDefaults sets the defaults of the schema, for objects that no API server has
// defaulted. It is idempotent.
func (i *IdentitySpec) SetDefaults() {
	SetIfZero(&i.Project, DefaultServiceProject)
	SetIfZero(&i.ProjectDomain, DefaultDomain)
	SetIfZero(&i.UserDomain, DefaultDomain)
}

// IdentityDescriber is a resource whose service uses the Identity service without a service
// user.
//
// +kubebuilder:object:generate=false
type IdentityDescriber interface {
	// IdentityURL returns the URL of the Identity service.
	IdentityURL() string
}

// IdentityURLOf returns the URL of the Identity service that the pods of a resource use, "" if
// they use none.
func IdentityURLOf(resource any) string {
	if describer, has := resource.(IdentityDescriber); has {
		return describer.IdentityURL()
	}
	if user, has := ServiceUserOf(resource); has {
		return user.Identity.AuthURL
	}
	return ""
}

// PortOf returns the TCP port of a URL.
func PortOf(authURL string) int32 {
	// Validation has rejected anything that is not a URL.
	address, err := url.Parse(authURL)
	if err == nil {
		if port, err := strconv.ParseInt(address.Port(), 10, 32); err == nil {
			return int32(port)
		}
		if address.Scheme == "https" {
			return 443
		}
	}
	return 80
}
