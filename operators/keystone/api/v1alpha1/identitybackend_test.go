package v1alpha1

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// minimalIdentityBackend returns the least a user has to write for users and groups.
func minimalIdentityBackend() *KeystoneIdentityBackend {
	return &KeystoneIdentityBackend{
		ObjectMeta: metav1.ObjectMeta{Name: "staff", Namespace: "openstack"},
		Spec: KeystoneIdentityBackendSpec{
			KeystoneRef: commonv1.ServiceReference{Name: "keystone"},
			IdentityBackendSpec: IdentityBackendSpec{
				Domain: IdentityDomainSpec{Name: "staff"},
				Type:   IdentityBackendLDAP,
				LDAP: &LDAPSpec{
					URLs:                     []string{"ldaps://ldap.example.com"},
					TLS:                      &LDAPTLSSpec{CABundleSecretRef: commonv1.SecretRefSpec{Name: "ldap-ca"}},
					BindCredentialsSecretRef: commonv1.CredentialsReference{Name: "ldap-reader"},
					Users:                    LDAPUsersSpec{Tree: "ou=people,dc=example,dc=com"},
					Groups:                   &LDAPGroupsSpec{Tree: "ou=groups,dc=example,dc=com"},
				},
			},
		},
	}
}

// completeIdentityBackend returns one with every field, except those that exclude others.
func completeIdentityBackend() *KeystoneIdentityBackend {
	b := minimalIdentityBackend()
	b.Spec.Domain = IdentityDomainSpec{Name: "staff", Mode: DomainAdopt, Description: "The people of the company"}
	ldap := b.Spec.LDAP
	ldap.TLS.CABundleSecretRef.Key = "bundle.pem"
	ldap.Scope, ldap.PageSize, ldap.TimeoutSeconds, ldap.ChaseReferrals = LDAPScopeOne, 500, 10, true
	ldap.Pool = &LDAPPoolSpec{Size: 5, LoginSize: 20, LifetimeSeconds: 60}
	ldap.Users.Filter, ldap.Users.Enabled = "(department=cloud)", &LDAPEnabledSpec{Attribute: "userAccountControl", Mask: 2}
	ldap.Groups = &LDAPGroupsSpec{Tree: "ou=groups,dc=example,dc=com", Filter: "(cn=*)", MembersAreIDs: true, Nested: true}
	SetIdentityBackendDefaults(b)
	return b
}

// startTLSBackend returns one with the fields that others of completeIdentityBackend exclude.
func startTLSBackend() *KeystoneIdentityBackend {
	b := minimalIdentityBackend()
	b.Spec.LDAP.URLs, b.Spec.LDAP.TLS.StartTLS = []string{"ldap://ldap.example.com:1389"}, true
	b.Spec.LDAP.Users.Enabled = &LDAPEnabledSpec{Group: "cn=enabled,ou=groups,dc=example,dc=com"}
	return b
}

func lockedBackend() *KeystoneIdentityBackend {
	b := minimalIdentityBackend()
	b.Spec.LDAP.Users.Enabled = &LDAPEnabledSpec{Attribute: "nsAccountLock", Invert: true}
	return b
}

type identityViolation apitest.Violation[*KeystoneIdentityBackend]

func enabled(spec LDAPEnabledSpec) func(*KeystoneIdentityBackend) {
	return func(b *KeystoneIdentityBackend) { b.Spec.LDAP.Users.Enabled = &spec }
}

func inTree(tree string) func(*KeystoneIdentityBackend) {
	return func(b *KeystoneIdentityBackend) { b.Spec.LDAP.Users.Tree = tree }
}

func inDomain(name string) func(*KeystoneIdentityBackend) {
	return func(b *KeystoneIdentityBackend) { b.Spec.Domain.Name = name }
}

func identityViolations() []identityViolation {
	const name, reserved = "name must be a letter", "the domain has users of the cloud itself"
	const tls, exclusive = "ldaps:// needs tls without startTLS", "name a group or an attribute"
	return []identityViolation{
		{"a name that no Secret has", func(b *KeystoneIdentityBackend) { b.Name = "1.staff" }, "metadata.name", name, name, "Invalid value"},
		{"a long name", func(b *KeystoneIdentityBackend) { b.Name = strings.Repeat("b", 41) }, "metadata.name", name, name, "Invalid value"},
		{
			"no Keystone", func(b *KeystoneIdentityBackend) { b.Spec.KeystoneRef.Name = "" },
			"spec.keystoneRef.name", "name the Keystone", apitest.TooShort, "",
		},
		{"a path as a domain", inDomain("../staff"), "spec.domain.name", "a file is named after it", apitest.NoMatch, ""},
		{"the default domain", inDomain("DEFAULT"), "spec.domain.name", reserved, reserved, ""},
		{
			"an unknown deletion policy", func(b *KeystoneIdentityBackend) { b.Spec.Domain.DeletionPolicy = "Orphan" },
			"spec.domain.deletionPolicy", "Unsupported value", "Unsupported value", "",
		},
		{
			"the deletion of another's domain", func(b *KeystoneIdentityBackend) {
				b.Spec.Domain.Mode, b.Spec.Domain.DeletionPolicy = DomainAdopt, commonv1.DeletionPolicyDelete
			}, "spec.domain.deletionPolicy", "only a domain that it has created", "only a domain that it has created", "",
		},
		{
			"no directory", func(b *KeystoneIdentityBackend) { b.Spec.LDAP = nil },
			"spec.type", "the type LDAP needs the field ldap", "the type LDAP needs the field ldap", "",
		},
		{
			"a path behind the server", func(b *KeystoneIdentityBackend) { b.Spec.LDAP.URLs = []string{"ldaps://ldap.example.com/dc=example"} },
			"spec.ldap.urls[0]", "nothing behind that but a port", apitest.NoMatch, "",
		},
		{
			"an encrypted server and one that is not", func(b *KeystoneIdentityBackend) {
				b.Spec.LDAP.URLs = []string{"ldaps://ldap.example.com", "ldap://ldap.example.com"}
			}, "spec.ldap.urls", "the URLs must all begin with", "the URLs must all begin with", "",
		},
		{"no certificates", func(b *KeystoneIdentityBackend) { b.Spec.LDAP.TLS = nil }, "spec.ldap.tls", tls, tls, ""},
		{"two encryptions", func(b *KeystoneIdentityBackend) { b.Spec.LDAP.TLS.StartTLS = true }, "spec.ldap.tls", tls, tls, ""},
		{
			"no account", func(b *KeystoneIdentityBackend) { b.Spec.LDAP.BindCredentialsSecretRef.Name = "" },
			"spec.ldap.bindCredentialsSecretRef.name", "name the Secret", apitest.TooShort, "",
		},
		{
			"a long page", func(b *KeystoneIdentityBackend) { b.Spec.LDAP.PageSize = 10001 },
			"spec.ldap.pageSize", "between 0 and 10000", apitest.TooLarge, "",
		},
		{
			"no tree", func(b *KeystoneIdentityBackend) { b.Spec.LDAP.Users.Tree = "" },
			"spec.ldap.users.tree", "name the entry below which they are", apitest.TooShort, "",
		},
		{"a tree on two lines", inTree("dc=example\ndc=com"), "spec.ldap.users.tree", "must not contain a line break", "", ""},
		{"a tree with a tab", inTree("dc=example\tdc=com"), "spec.ldap.users.tree", "must not contain control characters", "", ""},
		{"a tree behind a space", inTree(" dc=com"), "spec.ldap.users.tree", "must not begin or end with white space", "", ""},
		{
			"a filter without parentheses", func(b *KeystoneIdentityBackend) { b.Spec.LDAP.Users.Filter = "cn=*" },
			"spec.ldap.users.filter", "it must be in parentheses", apitest.NoMatch, "",
		},
		{
			"an attribute that is a filter", func(b *KeystoneIdentityBackend) { b.Spec.LDAP.Users.IDAttribute = "uid)(cn" },
			"spec.ldap.users.idAttribute", "up to 64 letters, digits and dashes", apitest.NoMatch, "",
		},
		{"two ways to be enabled", enabled(LDAPEnabledSpec{Group: "cn=a", Attribute: "a"}), "spec.ldap.users.enabled", exclusive, exclusive, ""},
		{
			"a mask of a group", enabled(LDAPEnabledSpec{Group: "cn=a", Mask: 2}),
			"spec.ldap.users.enabled", "mask and invert need an attribute", "mask and invert need an attribute", "",
		},
		{
			"an inverted mask", enabled(LDAPEnabledSpec{Attribute: "a", Mask: 2, Invert: true}),
			"spec.ldap.users.enabled", "mask and invert exclude each other", "mask and invert exclude each other", "",
		},
	}
}

func identityBackends() apitest.Kind[*KeystoneIdentityBackend] {
	return apitest.Kind[*KeystoneIdentityBackend]{
		Definition: configDir + "/crd/bases/keystone.openstack.c5c3.io_keystoneidentitybackends.yaml",
		Columns:    []string{"Keystone", "Domain", "Type", "Ready", "Age"},
		Minimal:    minimalIdentityBackend,
		Complete: append(slices.Concat(completeOIDCBackends(), completeSAMLBackends()),
			completeIdentityBackend, startTLSBackend, lockedBackend),
		DefaultRows: []apitest.Default{
			{Path: "spec.domain.mode", Want: "Manage"},
			{Path: "spec.domain.deletionPolicy", Want: "Retain"},
			{Path: "spec.ldap.scope", Want: "sub"},
			{Path: "spec.ldap.timeoutSeconds", Want: int64(5)},
			{Path: "spec.ldap.users.objectClass", Want: "inetOrgPerson"},
			{Path: "spec.ldap.users.idAttribute", Want: "uid"},
			{Path: "spec.ldap.users.nameAttribute", Want: "uid"},
			{Path: "spec.ldap.users.mailAttribute", Want: "mail"},
			{Path: "spec.ldap.users.descriptionAttribute", Want: "description"},
			{Path: "spec.ldap.groups.objectClass", Want: "groupOfNames"},
			{Path: "spec.ldap.groups.idAttribute", Want: "cn"},
			{Path: "spec.ldap.groups.nameAttribute", Want: "cn"},
			{Path: "spec.ldap.groups.memberAttribute", Want: "member"},
			{Path: "spec.ldap.groups.descriptionAttribute", Want: "description"},
			{Path: "spec.ldap.pool.size", Want: int64(10)},
			{Path: "spec.ldap.pool.loginSize", Want: int64(100)},
			{Path: "spec.ldap.pool.lifetimeSeconds", Want: int64(600)},
		},
		Rules:       identityBackendTable,
		Immutables:  identityBackendImmutables,
		UpdateRules: ValidateIdentityBackendUpdate,
		Defaults:    SetIdentityBackendDefaults,
		Updates: []apitest.Violation[*KeystoneIdentityBackend]{
			{
				Name: "another domain", Change: inDomain("others"),
				Path: "spec.domain", Message: "the name and the mode cannot be changed",
			},
			{
				Name: "another Keystone", Change: func(b *KeystoneIdentityBackend) { b.Spec.KeystoneRef.Name = "others" },
				Path: "spec.keystoneRef", Message: "the Keystone cannot be changed",
			},
			{
				Name: "another type", Change: provider(func(*OIDCSpec) {}),
				Path: "spec.type", Message: "the type and the names of the identity provider and of the protocol cannot be changed",
			},
		},
		Violations: apitest.Violations(slices.Concat(identityViolations(), oidcViolations(), samlViolations())),
		Accepted: map[string]func(*KeystoneIdentityBackend){
			"the deletion of its own domain": func(b *KeystoneIdentityBackend) {
				b.Spec.Domain.DeletionPolicy = commonv1.DeletionPolicyDelete
			},
			"a name with dots":         inDomain("Example.COM"),
			"no groups":                func(b *KeystoneIdentityBackend) { b.Spec.LDAP.Groups = nil },
			"a server without TLS":     func(b *KeystoneIdentityBackend) { b.Spec.LDAP.URLs, b.Spec.LDAP.TLS = []string{"ldap://ldap"}, nil },
			"those who are not locked": enabled(LDAPEnabledSpec{Attribute: "nsAccountLock", Invert: true}),
		},
		Words: []string{"directory"},
	}
}

func TestTheAPIOfIdentityBackendsPassesAllAPIChecks(t *testing.T) {
	apitest.Kinds{identityBackends()}.Prove(t, "identitybackend*.go", " must be valid UTF-8")
}
