package v1alpha1

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// DefaultCABundleKey is the key of certificates in a Secret.
const DefaultCABundleKey = "ca.crt"

// AnnotationDeleteDomain on a KeystoneIdentityBackend that is being deleted agrees to the deletion of
// its domain with what is in it. Its value is the one that the condition names, so that it applies
// to that only.
const AnnotationDeleteDomain = "keystone.openstack.c5c3.io/delete-domain"

// ServiceName returns the name of the Keystone.
func (b *KeystoneIdentityBackend) ServiceName() string { return b.Spec.KeystoneRef.Name }

// AttachmentStatus returns the status for steps to modify.
func (b *KeystoneIdentityBackend) AttachmentStatus() *commonv1.AttachmentStatus {
	return &b.Status.AttachmentStatus
}

// SetReference records the ID of the domain.
func (b *KeystoneIdentityBackend) SetReference(id string) { b.Status.DomainID = id }

// GetConditions returns the conditions of the status.
func (b *KeystoneIdentityBackend) GetConditions() []metav1.Condition { return b.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (b *KeystoneIdentityBackend) SetConditions(conditions []metav1.Condition) {
	b.Status.Conditions = conditions
}

// SetObservedGeneration records the generation that the status describes.
func (b *KeystoneIdentityBackend) SetObservedGeneration(generation int64) {
	b.Status.ObservedGeneration = generation
}

// StatusCopy returns a deep copy of the status.
func (b *KeystoneIdentityBackend) StatusCopy() any { return *b.Status.DeepCopy() }

// SetIdentityBackendDefaults fills in the fields that have a default.
func SetIdentityBackendDefaults(b *KeystoneIdentityBackend) { b.Spec.SetDefaults() }

// SetDefaults fills in the fields that have a default.
func (s *IdentityBackendSpec) SetDefaults() {
	s.Domain.Mode = cmp.Or(s.Domain.Mode, DomainManage)
	s.Domain.DeletionPolicy = cmp.Or(s.Domain.DeletionPolicy, commonv1.DeletionPolicyRetain)
	ldap := s.LDAP
	if ldap == nil {
		return
	}
	ldap.Scope, ldap.TimeoutSeconds = cmp.Or(ldap.Scope, LDAPScopeSub), cmp.Or(ldap.TimeoutSeconds, 5)
	users := &ldap.Users
	users.ObjectClass = cmp.Or(users.ObjectClass, "inetOrgPerson")
	users.IDAttribute, users.NameAttribute = cmp.Or(users.IDAttribute, "uid"), cmp.Or(users.NameAttribute, "uid")
	users.MailAttribute = cmp.Or(users.MailAttribute, "mail")
	users.DescriptionAttribute = cmp.Or(users.DescriptionAttribute, "description")
	if groups := ldap.Groups; groups != nil {
		groups.ObjectClass = cmp.Or(groups.ObjectClass, "groupOfNames")
		groups.IDAttribute, groups.NameAttribute = cmp.Or(groups.IDAttribute, "cn"), cmp.Or(groups.NameAttribute, "cn")
		groups.MemberAttribute = cmp.Or(groups.MemberAttribute, "member")
		groups.DescriptionAttribute = cmp.Or(groups.DescriptionAttribute, "description")
	}
	if ldap.Pool == nil {
		ldap.Pool = &LDAPPoolSpec{}
	}
	ldap.Pool.Size, ldap.Pool.LoginSize = cmp.Or(ldap.Pool.Size, 10), cmp.Or(ldap.Pool.LoginSize, 100)
	ldap.Pool.LifetimeSeconds = cmp.Or(ldap.Pool.LifetimeSeconds, 600)
}

// Patterns of names and texts, as the schema states them, and the domains that a backend cannot
// have: users of the cloud itself are there.
var (
	identityBackendName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$`)
	domainName          = regexp.MustCompile(`^[A-Za-z0-9]([-_.A-Za-z0-9]{0,62}[A-Za-z0-9])?$`)
	reservedDomains     = []string{"default", "service", "admin"}
	ldapURL             = regexp.MustCompile(`^ldaps?://[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)
	ldapAttribute       = regexp.MustCompile(`^[A-Za-z][-A-Za-z0-9]{0,63}$`)
	ldapFilter          = regexp.MustCompile(`^\(.*\)$`)
)

const ldapsScheme = "ldaps://"

// identityBackendTable has the rules of a KeystoneIdentityBackend.
var identityBackendTable = rules.Table[*KeystoneIdentityBackend]{
	{Path: "metadata.name", Check: checkIdentityBackendName},
	{Path: "spec.keystoneRef.name", Check: func(b *KeystoneIdentityBackend, at *field.Path) field.ErrorList {
		return unless(b.Spec.KeystoneRef.Name != "", at, "", "name the Keystone")
	}},
	{Path: "spec", Check: func(b *KeystoneIdentityBackend, at *field.Path) field.ErrorList { return b.Spec.Validate(at) }},
}

// Validate returns everything that is wrong with a source of users. It expects one with its defaults.
func (s *IdentityBackendSpec) Validate(at *field.Path) field.ErrorList {
	return slices.Concat(
		s.Domain.validate(at.Child("domain")),
		s.checkType(at.Child("type")),
		checkDirectory(s.LDAP, at.Child("ldap")),
		checkProvider(s.OIDC, at.Child("oidc")),
		s.checkSAML(at.Child("saml")),
		s.checkMappings(at.Child("mappings")),
		s.checkGroups(at.Child("groups")),
	)
}

// DomainIsImmutable and TypeIsImmutable say why the domain and the type of a backend cannot be changed.
const (
	DomainIsImmutable = "the name and the mode cannot be changed: create another backend"
	TypeIsImmutable   = "the type and the names of the identity provider and of the protocol cannot be changed: create another backend"
)

// identityBackendImmutables are the fields of a KeystoneIdentityBackend that cannot be changed.
var identityBackendImmutables = []rules.Immutable[*KeystoneIdentityBackend]{
	{
		Path: "spec.keystoneRef", Message: "the Keystone cannot be changed: create another backend",
		Get: func(b *KeystoneIdentityBackend) any { return b.Spec.KeystoneRef },
	},
	{
		Path: "spec.domain", Message: DomainIsImmutable,
		Get: func(b *KeystoneIdentityBackend) any { return b.Spec.Domain.Origin() },
	},
	{
		Path: "spec.type", Message: TypeIsImmutable,
		Get: func(b *KeystoneIdentityBackend) any { return b.Spec.Names() },
	},
}

// ValidateIdentityBackend returns everything that is wrong with a KeystoneIdentityBackend on its own.
// It expects one that SetIdentityBackendDefaults has been applied to.
func ValidateIdentityBackend(b *KeystoneIdentityBackend) field.ErrorList {
	return identityBackendTable.Validate(b)
}

// ValidateIdentityBackendUpdate returns what is wrong with replacing one KeystoneIdentityBackend with
// another, in addition to what ValidateIdentityBackend returns for the new one.
func ValidateIdentityBackendUpdate(old, updated *KeystoneIdentityBackend) field.ErrorList {
	return rules.Unchanged(identityBackendImmutables, old, updated)
}

// Origin returns what of a domain says which one it is. It is comparable.
func (d *IdentityDomainSpec) Origin() any {
	return [...]string{d.Name, string(cmp.Or(d.Mode, DomainManage))}
}

func checkIdentityBackendName(b *KeystoneIdentityBackend, at *field.Path) field.ErrorList {
	if b.Name == "" {
		return nil
	}
	return ValidateIdentityBackendName(b.Name, at)
}

// ValidateIdentityBackendName returns what is wrong with the name of a backend.
func ValidateIdentityBackendName(name string, at *field.Path) field.ErrorList {
	return unless(identityBackendName.MatchString(name), at, name,
		"name must be a letter and up to 39 lower case letters, digits and dashes: a Secret is named after it")
}

func (s *IdentityBackendSpec) checkType(at *field.Path) field.ErrorList {
	return slices.Concat(
		unless(s.Type == IdentityBackendLDAP || s.hasProvider(), at, s.Type, "it must be LDAP, OIDC or SAML"),
		unless((s.Type == IdentityBackendLDAP) == (s.LDAP != nil), at, s.Type, "the type LDAP needs the field ldap"),
		unless((s.Type == IdentityBackendOIDC) == (s.OIDC != nil), at, s.Type, "the type OIDC needs the field oidc"),
		unless((s.Type == IdentityBackendSAML) == (s.SAML != nil), at, s.Type, "the type SAML needs the field saml"),
	)
}

func (d *IdentityDomainSpec) validate(at *field.Path) field.ErrorList {
	name, mode, policy := d.Name, d.Mode, d.DeletionPolicy
	return slices.Concat(
		unless(domainName.MatchString(name), at.Child("name"), name,
			"it must have up to 64 letters, digits, dashes, underscores and dots: a file is named after it"),
		unless(!slices.Contains(reservedDomains, strings.ToLower(name)), at.Child("name"), name,
			"the domain has users of the cloud itself, which stay in the database: name another one"),
		unless(mode == DomainManage || mode == DomainAdopt, at.Child("mode"), mode, "it must be Manage or Adopt"),
		commonv1.CheckDeletionPolicy(policy, at.Child("deletionPolicy")),
		unless(policy != commonv1.DeletionPolicyDelete || mode != DomainAdopt, at.Child("deletionPolicy"), policy,
			"the operator deletes only a domain that it has created: set Retain, and delete the domain with the OpenStack client"),
	)
}

func checkDirectory(ldap *LDAPSpec, at *field.Path) field.ErrorList {
	if ldap == nil {
		return nil
	}
	return slices.Concat(checkConnection(ldap, at), checkUsers(&ldap.Users, at.Child("users")), checkGroups(ldap.Groups, at.Child("groups")))
}

func checkConnection(ldap *LDAPSpec, at *field.Path) field.ErrorList {
	errs := unless(len(ldap.URLs) > 0, at.Child("urls"), ldap.URLs, "name a server of the directory")
	encrypted := 0
	for i, url := range ldap.URLs {
		errs = append(errs, unless(ldapURL.MatchString(url), at.Child("urls").Index(i), url,
			"it must be ldaps:// or ldap:// with a host, and nothing behind that but a port")...)
		if strings.HasPrefix(url, ldapsScheme) {
			encrypted++
		}
	}
	if mixed := encrypted > 0 && encrypted < len(ldap.URLs); mixed {
		return append(errs, field.Invalid(at.Child("urls"), ldap.URLs, "the URLs must all begin with ldaps://, or all with ldap://"))
	}
	starts := ldap.TLS != nil && ldap.TLS.StartTLS
	return slices.Concat(errs,
		unless((ldap.TLS != nil) == (encrypted > 0 || starts) && (encrypted == 0 || !starts), at.Child("tls"), starts,
			"ldaps:// needs tls without startTLS, and ldap:// with tls needs startTLS"),
		checkCABundle(ldap.TLS, at.Child("tls", "caBundleSecretRef")),
		unless(ldap.Scope == LDAPScopeOne || ldap.Scope == LDAPScopeSub, at.Child("scope"), ldap.Scope, "it must be one or sub"),
		within(0, 10000, ldap.PageSize, at.Child("pageSize")),
		within(1, 60, ldap.TimeoutSeconds, at.Child("timeoutSeconds")),
		checkPool(ldap.Pool, at.Child("pool")),
		unless(ldap.BindCredentialsSecretRef.Name != "", at.Child("bindCredentialsSecretRef", "name"), "", "name the Secret"),
	)
}

func checkPool(pool *LDAPPoolSpec, at *field.Path) field.ErrorList {
	if pool == nil {
		return nil
	}
	return slices.Concat(within(1, 1000, pool.Size, at.Child("size")), within(1, 1000, pool.LoginSize, at.Child("loginSize")),
		within(1, 86400, pool.LifetimeSeconds, at.Child("lifetimeSeconds")))
}

func checkCABundle(tls *LDAPTLSSpec, at *field.Path) field.ErrorList {
	if tls == nil {
		return nil
	}
	return commonv1.ValidateSecretRef(tls.CABundleSecretRef, at)
}

func within(minimum, maximum, value int32, at *field.Path) field.ErrorList {
	return unless(value >= minimum && value <= maximum, at, value, fmt.Sprintf("it must be between %d and %d", minimum, maximum))
}

func checkUsers(users *LDAPUsersSpec, at *field.Path) field.ErrorList {
	errs := slices.Concat(checkEntries(users.Tree, users.Filter, at), checkAttributes(at, map[string]string{
		"objectClass": users.ObjectClass, "idAttribute": users.IDAttribute, "nameAttribute": users.NameAttribute,
		"mailAttribute": users.MailAttribute, "descriptionAttribute": users.DescriptionAttribute,
	}))
	enabled := users.Enabled
	if enabled == nil {
		return errs
	}
	at = at.Child("enabled")
	if enabled.Attribute != "" {
		errs = append(errs, checkAttributes(at, map[string]string{"attribute": enabled.Attribute})...)
	}
	return slices.Concat(errs,
		unless((enabled.Group != "") != (enabled.Attribute != ""), at, enabled.Group, "name a group or an attribute"),
		unless(enabled.Attribute != "" || enabled.Mask == 0 && !enabled.Invert, at, enabled.Mask, "mask and invert need an attribute"),
		within(0, math.MaxInt32, enabled.Mask, at.Child("mask")),
		unless(enabled.Mask == 0 || !enabled.Invert, at, enabled.Mask, "mask and invert exclude each other"),
		checkText(enabled.Group, at.Child("group")),
	)
}

func checkGroups(groups *LDAPGroupsSpec, at *field.Path) field.ErrorList {
	if groups == nil {
		return nil
	}
	return slices.Concat(checkEntries(groups.Tree, groups.Filter, at), checkAttributes(at, map[string]string{
		"objectClass": groups.ObjectClass, "idAttribute": groups.IDAttribute, "nameAttribute": groups.NameAttribute,
		"memberAttribute": groups.MemberAttribute, "descriptionAttribute": groups.DescriptionAttribute,
	}))
}

func checkEntries(tree, filter string, at *field.Path) field.ErrorList {
	return slices.Concat(
		unless(tree != "", at.Child("tree"), tree, "name the entry below which they are"), checkText(tree, at.Child("tree")),
		unless(filter == "" || ldapFilter.MatchString(filter), at.Child("filter"), filter, "it must be in parentheses"),
		checkText(filter, at.Child("filter")),
	)
}

// checkText refuses what cannot stand in a configuration file.
func checkText(text string, at *field.Path) field.ErrorList {
	if err := ini.ValidateValue(text); err != nil {
		return field.ErrorList{field.Invalid(at, text, err.Error())}
	}
	return nil
}

func checkAttributes(at *field.Path, attributes map[string]string) (errs field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		errs = append(errs, unless(ldapAttribute.MatchString(attributes[name]), at.Child(name), attributes[name],
			"it must have up to 64 letters, digits and dashes")...)
	}
	return errs
}
