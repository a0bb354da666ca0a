package types

import (
	"net/url"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// oslo.config takes a dollar sign for the start of a reference to another option.
var (
	authURL      = regexp.MustCompile(`^https?://[^\s/$]+(/[^\s$]*)?$`)
	identityName = regexp.MustCompile(`^[^\s$]*$`)
)

// federatedName is what identity providers and protocols are called.
var federatedName = regexp.MustCompile(`^[A-Za-z0-9]([-_A-Za-z0-9]*[A-Za-z0-9])?$`)

// ValidateFederatedName checks the name of an identity provider or of a protocol in Keystone.
func ValidateFederatedName(name string, at *field.Path) field.ErrorList {
	if federatedName.MatchString(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, "it must have letters, digits, dashes and underscores: it is a part of URLs")}
}

// ServiceUserRules returns the rules of every API service that has a service user.
func ServiceUserRules[T ServiceUserDescriber]() rules.Table[T] {
	name := func(get func(*IdentitySpec) string) rules.Check[T] {
		return func(resource T, at *field.Path) field.ErrorList {
			return validateIdentityName(get(resource.ServiceUser().Identity), at)
		}
	}
	return rules.Table[T]{
		{Path: "spec.identity.authURL", Check: func(resource T, at *field.Path) field.ErrorList {
			return ValidateAuthURL(resource.ServiceUser().Identity.AuthURL, at)
		}},
		{Path: "spec.identity.region", Check: name(func(i *IdentitySpec) string { return i.Region })},
		{Path: "spec.identity.project", Check: name(func(i *IdentitySpec) string { return i.Project })},
		{Path: "spec.identity.projectDomain", Check: name(func(i *IdentitySpec) string { return i.ProjectDomain })},
		{Path: "spec.identity.userDomain", Check: name(func(i *IdentitySpec) string { return i.UserDomain })},
		{Path: "spec.serviceUserSecretRef", Check: func(resource T, at *field.Path) field.ErrorList {
			return ValidateSecretRef(*resource.ServiceUser().SecretRef, at)
		}},
	}
}

// ValidateAuthURL checks the URL of an Identity service.
func ValidateAuthURL(address string, at *field.Path) field.ErrorList {
	if address == "" {
		return field.ErrorList{field.Required(at, "set the URL of the Identity API, for example http://keystone.openstack.svc:5000/v3")}
	}
	if parsed, err := url.Parse(address); err != nil || parsed.User != nil || !authURL.MatchString(address) {
		return field.ErrorList{field.Invalid(at, field.OmitValueType{},
			"must be a URL that begins with http:// or https://, without a user and without a dollar sign")}
	}
	return nil
}

func validateIdentityName(name string, at *field.Path) field.ErrorList {
	if !identityName.MatchString(name) {
		return field.ErrorList{field.Invalid(at, name, "must not contain spaces or dollar signs")}
	}
	return nil
}
