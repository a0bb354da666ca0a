package v1alpha1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// becomeSAML makes a backend one of the type SAML, with the least that users have to write.
func becomeSAML(b *KeystoneIdentityBackend) *SAMLSpec {
	become(b)
	b.Spec.Type, b.Spec.OIDC = IdentityBackendSAML, nil
	b.Spec.SAML = &SAMLSpec{
		EntityID: "https://login.example.com/saml", Metadata: SAMLMetadata{SecretRef: &commonv1.SecretRefSpec{Name: "login"}},
	}
	return b.Spec.SAML
}

// samlProvider returns a change of a backend to one of the type SAML with the change.
func samlProvider(change func(*SAMLSpec)) func(*KeystoneIdentityBackend) {
	return func(b *KeystoneIdentityBackend) { change(becomeSAML(b)) }
}

func attributes(attributes ...SAMLAttribute) func(*KeystoneIdentityBackend) {
	return samlProvider(func(s *SAMLSpec) { s.Attributes = attributes })
}

// completeSAMLBackends returns backends that together have every field of the type SAML.
func completeSAMLBackends() (all []func() *KeystoneIdentityBackend) {
	secret := &commonv1.SecretRefSpec{Name: "login", Key: "idp.xml"}
	for _, metadata := range []SAMLMetadata{{Inline: "<EntityDescriptor/>"}, {SecretRef: secret}} {
		all = append(all, func() *KeystoneIdentityBackend {
			b := minimalIdentityBackend()
			s := becomeSAML(b)
			s.Metadata, s.ServiceProviderID = metadata, "https://keystone.example.com"
			s.Attributes = []SAMLAttribute{{Claim: "preferred_username", Name: "urn:oid:0.9.2342.19200300.100.1.1"}}
			s.IdentityProvider, s.Protocol = "company", SAMLProtocolMapped
			b.Spec.Groups = []IdentityGroup{{Name: "users"}}
			SetIdentityBackendDefaults(b)
			return b
		})
	}
	return all
}

func samlViolations() []identityViolation {
	const name, one = "it must have up to 255 letters, digits and", "set one of inline and secretRef"
	const once = "each attribute can have one name"
	return []identityViolation{
		{
			"no SAML provider", func(b *KeystoneIdentityBackend) { becomeSAML(b); b.Spec.SAML = nil },
			"spec.type", "the type SAML needs the field saml", "the type SAML needs the field saml", "",
		},
		{
			"an entity ID in quotes", samlProvider(func(s *SAMLSpec) { s.EntityID = `a"b` }),
			"spec.saml.entityID", name, apitest.NoMatch, "",
		},
		{
			"a service provider of two lines", samlProvider(func(s *SAMLSpec) { s.ServiceProviderID = "a\nLoadModule b" }),
			"spec.saml.serviceProviderID", name, apitest.NoMatch, "",
		},
		{"no metadata", samlProvider(func(s *SAMLSpec) { s.Metadata.SecretRef = nil }), "spec.saml.metadata", one, one, ""},
		{"metadata twice", samlProvider(func(s *SAMLSpec) { s.Metadata.Inline = "<a/>" }), "spec.saml.metadata", one, one, ""},
		{
			"long metadata", samlProvider(func(s *SAMLSpec) { s.Metadata = SAMLMetadata{Inline: strings.Repeat("a", maxInlineMetadata+1)} }),
			"spec.saml.metadata.inline", "put it into a Secret", "Too long", "",
		},
		{
			"a path in a Secret", samlProvider(func(s *SAMLSpec) { s.Metadata.SecretRef.Key = "a/b" }),
			"spec.saml.metadata.secretRef.key", "a valid config key", apitest.NoMatch, "",
		},
		{
			"a claim of an attribute that is a header", attributes(SAMLAttribute{Claim: "a: b", Name: "a"}),
			"spec.saml.attributes[0].claim", "up to 64 letters, digits, dashes", apitest.NoMatch, "",
		},
		{
			"an attribute that is the entity ID", attributes(SAMLAttribute{Claim: "iss", Name: "a"}),
			"spec.saml.attributes[0].claim", "it is the entity ID", "", "",
		},
		{
			"an attribute with a variable", attributes(SAMLAttribute{Claim: "a", Name: "${PATH}"}),
			"spec.saml.attributes[0].name", name, apitest.NoMatch, "",
		},
		{
			"a claim for two attributes", attributes(SAMLAttribute{Claim: "a", Name: "a"}, SAMLAttribute{Claim: "a", Name: "b"}),
			"spec.saml.attributes[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			"an attribute for two claims", attributes(SAMLAttribute{Claim: "a", Name: "a"}, SAMLAttribute{Claim: "b", Name: "a"}),
			"spec.saml.attributes", once, once, "",
		},
		{
			"an attribute of another claim", attributes(SAMLAttribute{Claim: "a", Name: "preferred_username"}),
			"spec.saml.attributes", "the attribute of that name has another claim", "", "",
		},
		{
			"a path as an identity provider of SAML", samlProvider(func(s *SAMLSpec) { s.IdentityProvider = "a/b" }),
			"spec.saml.identityProvider", "it is a part of URLs", apitest.NoMatch, "",
		},
		{
			"a protocol of SAML without a plugin", samlProvider(func(s *SAMLSpec) { s.Protocol = "openid" }),
			"spec.saml.protocol", "it must be saml2 or mapped", "Unsupported value", "",
		},
	}
}

func TestTheNamesOfASAMLProviderInKeystoneCannotBeChanged(t *testing.T) {
	old, protocol, name := minimalIdentityBackend(), minimalIdentityBackend(), minimalIdentityBackend()
	becomeSAML(old)
	becomeSAML(protocol).Protocol, becomeSAML(name).IdentityProvider = SAMLProtocolMapped, "other"
	isOneMistakeEach(t, old, protocol, name)
	becomeSAML(protocol).Protocol = SAMLProtocolSAML2
	if errs := ValidateIdentityBackendUpdate(old, protocol); len(errs) > 0 {
		t.Errorf("the default is refused: %v", errs)
	}
}

func TestProvidersOfBothTypesHaveNamesInKeystone(t *testing.T) {
	directory, oidc, saml := minimalIdentityBackend(), minimalIdentityBackend(), minimalIdentityBackend()
	become(oidc)
	becomeSAML(saml).IdentityProvider = "company"
	if directory.IsFederated() || !oidc.IsFederated() || !saml.IsFederated() {
		t.Error("the backends are of other types")
	}
	got := [][3]string{
		{oidc.IdentityProviderName(), oidc.ProtocolName(), oidc.RemoteID()}, {saml.IdentityProviderName(), saml.ProtocolName(), saml.RemoteID()},
	}
	want := [][3]string{{"staff", "openid", oidc.Spec.OIDC.Issuer}, {"company", "saml2", "https://login.example.com/saml"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
