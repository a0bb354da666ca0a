package v1alpha1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// become makes a backend one of the type OIDC, with the least that users have to write.
func become(b *KeystoneIdentityBackend) *OIDCSpec {
	b.Spec.Type, b.Spec.LDAP = IdentityBackendOIDC, nil
	b.Spec.OIDC = &OIDCSpec{
		Issuer: "https://login.example.com/realms/company/", ClientID: "keystone",
		ClientSecretRef: commonv1.SecretRefSpec{Name: "keystone-client"},
	}
	b.Spec.Mappings = []MappingRule{{
		Local: []LocalMapping{{User: &MappedUser{Name: "{0}"}}}, Remote: []RemoteMapping{{Claim: "preferred_username"}},
	}}
	return b.Spec.OIDC
}

// provider returns a change of a backend to one of the type OIDC with the change.
func provider(change func(*OIDCSpec)) func(*KeystoneIdentityBackend) {
	return func(b *KeystoneIdentityBackend) { change(become(b)) }
}

// mapping returns a change of a backend to one of the type OIDC whose rule has the change.
func mapping(change func(*MappingRule)) func(*KeystoneIdentityBackend) {
	return func(b *KeystoneIdentityBackend) {
		become(b)
		change(&b.Spec.Mappings[0])
	}
}

func localMapping(local LocalMapping) func(*KeystoneIdentityBackend) {
	return mapping(func(m *MappingRule) { m.Local = append(m.Local, local) })
}

func remoteMapping(remote RemoteMapping) func(*KeystoneIdentityBackend) {
	return mapping(func(m *MappingRule) { m.Remote = append(m.Remote, remote) })
}

func declaring(groups ...IdentityGroup) func(*KeystoneIdentityBackend) {
	return func(b *KeystoneIdentityBackend) {
		become(b)
		b.Spec.Groups = groups
	}
}

// completeOIDCBackends returns backends that together have every field of the type OIDC.
func completeOIDCBackends() (all []func() *KeystoneIdentityBackend) {
	values := []string{"cloud"}
	for _, remote := range []RemoteMapping{{AnyOneOf: values, Regex: true}, {NotAnyOf: values}, {Whitelist: values}, {Blacklist: values}} {
		for _, local := range []LocalMapping{{User: &MappedUser{Name: "{0}", Email: "{1}"}}, {Group: "users"}, {Groups: "{0}"}} {
			all = append(all, func() *KeystoneIdentityBackend {
				b := minimalIdentityBackend()
				completeProvider(become(b))
				rule := &b.Spec.Mappings[0]
				remote.Claim = "groups"
				rule.Local = append([]LocalMapping{local}, rule.Local...)
				rule.Remote = []RemoteMapping{remote, {Claim: "sub"}, {Claim: "email"}}
				b.Spec.Mappings = append(b.Spec.Mappings, MappingRule{
					Local: []LocalMapping{{Group: "admins"}}, Remote: []RemoteMapping{{Claim: "groups", AnyOneOf: values}},
				})
				b.Spec.Groups = []IdentityGroup{{
					Name: "users", Description: "All users", RoleAssignments: []RoleAssignment{{Role: "member", Project: "cloud", Domain: "Default"}},
				}}
				SetIdentityBackendDefaults(b)
				return b
			})
		}
	}
	return all
}

func completeProvider(o *OIDCSpec) {
	const url = "https://login.example.com/"
	o.Endpoints = &OIDCEndpoints{Authorization: url + "auth?tenant=a", Token: url + "token", JWKS: url + "keys", Userinfo: url + "user"}
	o.ClientSecretRef.Key, o.CABundleSecretRef = "password", &commonv1.SecretRefSpec{Name: "ca", Key: "bundle.pem"}
	o.Scopes, o.IdentityProvider, o.Protocol = []string{"openid", "groups"}, "company", OIDCProtocolMapped
	o.BearerTokens = &OIDCBearerTokens{Audiences: []string{"keystone"}}
}

func oidcViolations() []identityViolation {
	const refers, braces = "does not exist: {0} is the first claim", "braces must be those of a number"
	const one, duplicate = "set one of user, group and groups", "Duplicate value"
	const exclusive, mappings = "anyOneOf, notAnyOf, whitelist and blacklist exclude each other", "the types OIDC and SAML need mappings"
	return []identityViolation{
		{
			"an unknown type", func(b *KeystoneIdentityBackend) { b.Spec.Type = "Kerberos" },
			"spec.type", "it must be LDAP, OIDC or SAML", "Unsupported value", "",
		},
		{
			"no provider", func(b *KeystoneIdentityBackend) { become(b); b.Spec.OIDC = nil },
			"spec.type", "the type OIDC needs the field oidc", "the type OIDC needs the field oidc", "",
		},
		{
			"an issuer without TLS", provider(func(o *OIDCSpec) { o.Issuer = "http://login.example.com" }),
			"spec.oidc.issuer", "it must be https:// with a host", apitest.NoMatch, "",
		},
		{
			"an issuer with a query", provider(func(o *OIDCSpec) { o.Issuer += "?a=b" }),
			"spec.oidc.issuer", "it must be https:// with a host", apitest.NoMatch, "",
		},
		{
			"an endpoint in quotes", provider(func(o *OIDCSpec) {
				completeProvider(o)
				o.Endpoints.Token = `https://login.example.com/"`
			}), "spec.oidc.endpoints.token", "maybe a port, a path and a query", apitest.NoMatch, "",
		},
		{
			"a client of two lines", provider(func(o *OIDCSpec) { o.ClientID = "a\nLoadModule b" }),
			"spec.oidc.clientID", "it must have up to 255 letters", apitest.NoMatch, "",
		},
		{
			"scopes without openid", provider(func(o *OIDCSpec) { o.Scopes = []string{"email"} }),
			"spec.oidc.scopes", "the scopes must contain openid", "the scopes must contain openid", "",
		},
		{
			"a path as an identity provider", provider(func(o *OIDCSpec) { o.IdentityProvider = "a/b" }),
			"spec.oidc.identityProvider", "it is a part of URLs", apitest.NoMatch, "",
		},
		{
			"a protocol without a plugin", provider(func(o *OIDCSpec) { o.Protocol = "oidc" }),
			"spec.oidc.protocol", "Keystone has no plugin for another name", "Unsupported value", "",
		},
		{
			"tokens of any audience", provider(func(o *OIDCSpec) { o.BearerTokens = &OIDCBearerTokens{Audiences: []string{}} }),
			"spec.oidc.bearerTokens.audiences", "without one any token of the provider counts", "should have at least 1 items", "",
		},
		{"no mappings", func(b *KeystoneIdentityBackend) { become(b); b.Spec.Mappings = nil }, "spec.mappings", mappings, mappings, ""},
		{
			"no user", mapping(func(m *MappingRule) { m.Local = []LocalMapping{{Group: "users"}} }),
			"spec.mappings", "no rule has a user", "no rule has a user", "",
		},
		{
			"nothing local", mapping(func(m *MappingRule) { m.Local = []LocalMapping{} }),
			"spec.mappings[0].local", "say what the user is", "should have at least 1 items", "",
		},
		{
			"no claim", mapping(func(m *MappingRule) {
				m.Local, m.Remote = []LocalMapping{{User: &MappedUser{Name: "everybody"}}}, []RemoteMapping{}
			}), "spec.mappings[0].remote", "name a claim", "should have at least 1 items", "",
		},
		{"nothing in an entry", localMapping(LocalMapping{}), "spec.mappings[0].local[1]", one, one, ""},
		{"two things in an entry", localMapping(LocalMapping{Group: "a", Groups: "{0}"}), "spec.mappings[0].local[1]", one, one, ""},
		{"an attribute of a claim", localMapping(LocalMapping{Group: "{0.a}"}), "spec.mappings[0].local[1].group", braces, apitest.NoMatch, ""},
		{"a claim too many", localMapping(LocalMapping{Groups: "{1}"}), "spec.mappings[0].local[1].groups", refers, "", ""},
		{
			"an address that is a condition", mapping(func(m *MappingRule) {
				m.Local[0].User.Email = "{1}"
				m.Remote = append(m.Remote, RemoteMapping{Claim: "email", AnyOneOf: []string{"a"}})
			}), "spec.mappings[0].local[0].user.email", refers, "", "",
		},
		{
			"a claim that is a header", remoteMapping(RemoteMapping{Claim: "a: b"}),
			"spec.mappings[0].remote[1].claim", "up to 64 letters, digits, dashes", apitest.NoMatch, "",
		},
		{
			"two conditions", remoteMapping(RemoteMapping{Claim: "a", AnyOneOf: []string{"b"}, Whitelist: []string{"c"}}),
			"spec.mappings[0].remote[1]", exclusive, exclusive, "",
		},
		{
			"an expression without a list", remoteMapping(RemoteMapping{Claim: "a", Regex: true}),
			"spec.mappings[0].remote[1].regex", "regex needs a list", "regex needs a list", "",
		},
		{
			"groups of a directory", func(b *KeystoneIdentityBackend) { b.Spec.Groups = []IdentityGroup{{Name: "users"}} },
			"spec.groups", "only the types OIDC and SAML have groups here", "only the types OIDC and SAML have groups here", "",
		},
		{"a group without a name", declaring(IdentityGroup{}), "spec.groups[0].name", "name the group", apitest.TooShort, ""},
		{"a group twice", declaring(IdentityGroup{Name: "a"}, IdentityGroup{Name: "a"}), "spec.groups[1]", duplicate, duplicate, ""},
		{
			"a group twice for MariaDB", declaring(IdentityGroup{Name: "a"}, IdentityGroup{Name: "A"}),
			"spec.groups[1]", duplicate, "", "",
		},
		{
			"no role", declaring(IdentityGroup{Name: "a", RoleAssignments: []RoleAssignment{{Project: "p"}}}),
			"spec.groups[0].roleAssignments[0].role", "name the role", apitest.TooShort, "",
		},
	}
}

func TestTheNamesInKeystoneCannotBeChanged(t *testing.T) {
	old, protocol, name := minimalIdentityBackend(), minimalIdentityBackend(), minimalIdentityBackend()
	become(old)
	become(protocol).Protocol, become(name).IdentityProvider = OIDCProtocolMapped, "other"
	isOneMistakeEach(t, old, protocol, name)
	become(protocol).Protocol = OIDCProtocolOpenID
	if errs := ValidateIdentityBackendUpdate(old, protocol); len(errs) > 0 {
		t.Errorf("the default is refused: %v", errs)
	}
}

func isOneMistakeEach(t *testing.T, old *KeystoneIdentityBackend, all ...*KeystoneIdentityBackend) {
	t.Helper()
	for _, updated := range all {
		if errs := ValidateIdentityBackendUpdate(old, updated); len(errs) != 1 {
			t.Errorf("got %v", errs)
		}
	}
}

func TestAProviderHasDefaultsThatAreNotStored(t *testing.T) {
	b := minimalIdentityBackend()
	o := become(b)
	if b.IdentityProviderName() != b.Name || o.ProtocolName() != "openid" || strings.Join(o.RequestedScopes(), " ") != "openid email profile" {
		t.Errorf("got %s, %s, %v", b.IdentityProviderName(), o.ProtocolName(), o.RequestedScopes())
	}
	completeProvider(o)
	if b.IdentityProviderName() != "company" || o.ProtocolName() != "mapped" || !cmp.Equal(o.RequestedScopes(), []string{"openid", "groups"}) {
		t.Errorf("got %s, %s, %v", b.IdentityProviderName(), o.ProtocolName(), o.RequestedScopes())
	}
}
