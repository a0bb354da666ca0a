package v1alpha1

import (
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// ofIdentityBackend changes the first identity backend.
func ofIdentityBackend(change func(*ServiceKeystoneIdentityBackendSpec)) func(*ControlPlane) {
	return ofService(func(k *ServiceKeystoneSpec) {
		if len(k.IdentityBackends) > 0 {
			change(&k.IdentityBackends[0])
		}
	})
}

// withIdentityBackend adds an identity backend.
func withIdentityBackend(backend ServiceKeystoneIdentityBackendSpec) func(*ControlPlane) {
	return ofService(func(k *ServiceKeystoneSpec) { k.IdentityBackends = append(k.IdentityBackends, backend) })
}

// atProvider turns an identity backend into one of the type OIDC.
func atProvider(change func(*ServiceKeystoneIdentityBackendSpec)) func(*ControlPlane) {
	return ofIdentityBackend(func(b *ServiceKeystoneIdentityBackendSpec) {
		b.Type, b.LDAP = keystonev1alpha1.IdentityBackendOIDC, nil
		b.OIDC = &keystonev1alpha1.OIDCSpec{
			Issuer: "https://login.example.com", ClientID: "keystone", ClientSecretRef: commonv1.SecretRefSpec{Name: "client"},
		}
		b.Mappings = []keystonev1alpha1.MappingRule{{
			Local:  []keystonev1alpha1.LocalMapping{{User: &keystonev1alpha1.MappedUser{Name: "{0}"}}},
			Remote: []keystonev1alpha1.RemoteMapping{{Claim: "sub"}},
		}}
		change(b)
	})
}

// identityBackendViolations break the rules of the list, and one of each field that identity backends have
// in their own resource, too.
func identityBackendViolations() []violation {
	const list, first = keystonePath + ".identityBackends", keystonePath + ".identityBackends[0]"
	const one, mappings, user, groups = "each domain can have one backend", "the types OIDC and SAML need mappings",
		"no rule has a user", "only the types OIDC and SAML have groups here"
	other := inDirectory("staff")
	other.Domain.Name = "others"
	same := inDirectory("others")
	same.Domain.Name = "STAFF"
	return []violation{
		{"an identity backend twice", withIdentityBackend(other), list + "[1]", "Duplicate value", "Duplicate value", ""},
		{"two identity backends of one domain", withIdentityBackend(same), list, one, one, ""},
		{
			"an identity backend with a name that no Secret has",
			ofIdentityBackend(func(b *ServiceKeystoneIdentityBackendSpec) { b.Name = "1.staff" }),
			first + ".name", "name must be a letter", apitest.NoMatch, "",
		},
		{
			"the domain of the cloud's own users", ofIdentityBackend(func(b *ServiceKeystoneIdentityBackendSpec) { b.Domain.Name = "Default" }),
			first + ".domain.name", "the domain has users of the cloud itself", "the domain has users of the cloud itself", "",
		},
		{
			"an unknown type of an identity backend", ofIdentityBackend(func(b *ServiceKeystoneIdentityBackendSpec) { b.Type = "Kerberos" }),
			first + ".type", "it must be LDAP, OIDC or SAML", "Unsupported value", "",
		},
		{
			"no directory", ofIdentityBackend(func(b *ServiceKeystoneIdentityBackendSpec) { b.LDAP = nil }),
			first + ".type", "the type LDAP needs the field ldap", "the type LDAP needs the field ldap", "",
		},
		{
			"no provider", atProvider(func(b *ServiceKeystoneIdentityBackendSpec) { b.OIDC = nil }),
			first + ".type", "the type OIDC needs the field oidc", "the type OIDC needs the field oidc", "",
		},
		{
			"a directory without an account", ofIdentityBackend(func(b *ServiceKeystoneIdentityBackendSpec) {
				b.LDAP.BindCredentialsSecretRef.Name = ""
			}),
			first + ".ldap.bindCredentialsSecretRef.name", "name the Secret", apitest.TooShort, "",
		},
		{
			"a provider without encryption", atProvider(func(b *ServiceKeystoneIdentityBackendSpec) { b.OIDC.Issuer = "http://login.example.com" }),
			first + ".oidc.issuer", "it must be https:// with a host", apitest.NoMatch, "",
		},
		{
			"no SAML provider", atProvider(func(b *ServiceKeystoneIdentityBackendSpec) {
				b.Type, b.OIDC = keystonev1alpha1.IdentityBackendSAML, nil
			}),
			first + ".type", "the type SAML needs the field saml", "the type SAML needs the field saml", "",
		},
		{
			"the metadata of a SAML provider nowhere", atProvider(func(b *ServiceKeystoneIdentityBackendSpec) {
				b.Type, b.OIDC = keystonev1alpha1.IdentityBackendSAML, nil
				b.SAML = &keystonev1alpha1.SAMLSpec{EntityID: "https://login.example.com/saml"}
			}),
			first + ".saml.metadata", "set one of inline and secretRef", "set one of inline and secretRef", "",
		},
		{
			"a provider without mappings", atProvider(func(b *ServiceKeystoneIdentityBackendSpec) { b.Mappings = nil }),
			first + ".mappings", mappings, mappings, "",
		},
		{
			"mappings to groups alone", atProvider(func(b *ServiceKeystoneIdentityBackendSpec) {
				b.Mappings[0].Local[0] = keystonev1alpha1.LocalMapping{Group: "users"}
			}),
			first + ".mappings", user, user, "",
		},
		{
			"groups of a directory", ofIdentityBackend(func(b *ServiceKeystoneIdentityBackendSpec) {
				b.Groups = []keystonev1alpha1.IdentityGroup{{Name: "users"}}
			}),
			first + ".groups", groups, groups, "",
		},
		{
			"an image of the proxy with a tag in its name", ofService(func(k *ServiceKeystoneSpec) {
				k.ProxyImage = &commonv1.ImageSpec{Repository: "example.com/proxy:2.4", Tag: "2.4"}
			}),
			keystonePath + ".proxyImage.repository", "must be an image name without a tag", apitest.NoMatch, "",
		},
	}
}
