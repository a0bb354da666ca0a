package v1alpha1

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const (
	// DefaultSAMLMetadataKey is the key of the metadata of a SAML provider in its Secret.
	DefaultSAMLMetadataKey = "metadata.xml"
	// RemoteIDClaim is the claim with the issuer of a token or the entity ID of a provider.
	RemoteIDClaim = "iss"
	// maxInlineMetadata is the most characters of a document in the spec.
	maxInlineMetadata = 262144
)

// samlName matches entity IDs and names of attributes. Nothing in them has a meaning in Apache's configuration.
var samlName = regexp.MustCompile(`^[-._~:/?#@!&=+,;%A-Za-z0-9]{1,255}$`)

// ProtocolName returns the name of the protocol in Keystone.
func (s *SAMLSpec) ProtocolName() string { return string(cmp.Or(s.Protocol, SAMLProtocolSAML2)) }

func (s *IdentityBackendSpec) checkSAML(at *field.Path) field.ErrorList {
	p := s.SAML
	if p == nil {
		return nil
	}
	const name = "it must have up to 255 letters, digits and -._~:/?#@!&=+,;%"
	return slices.Concat(
		unless(samlName.MatchString(p.EntityID), at.Child("entityID"), p.EntityID, name),
		unless(p.ServiceProviderID == "" || samlName.MatchString(p.ServiceProviderID), at.Child("serviceProviderID"), p.ServiceProviderID, name),
		checkMetadata(p.Metadata, at.Child("metadata")),
		s.checkAttributes(at.Child("attributes")),
		checkIdentityProvider(p.IdentityProvider, at.Child("identityProvider")),
		unless(slices.Contains([]string{"saml2", "mapped"}, p.ProtocolName()), at.Child("protocol"), p.Protocol,
			"it must be saml2 or mapped: Keystone has no plugin for another name"),
	)
}

func checkMetadata(metadata SAMLMetadata, at *field.Path) field.ErrorList {
	errs := slices.Concat(
		unless((metadata.Inline != "") != (metadata.SecretRef != nil), at, "", "set one of inline and secretRef"),
		unless(len(metadata.Inline) <= maxInlineMetadata, at.Child("inline"), len(metadata.Inline),
			fmt.Sprintf("it may not be longer than %d characters: put it into a Secret", maxInlineMetadata)),
	)
	if metadata.SecretRef != nil {
		errs = append(errs, commonv1.ValidateSecretRef(*metadata.SecretRef, at.Child("secretRef"))...)
	}
	return errs
}

// checkAttributes refuses two claims that are the same attribute: the proxy passes it on under one name.
func (s *IdentityBackendSpec) checkAttributes(list *field.Path) (errs field.ErrorList) {
	claims, names := map[string]bool{}, map[string]bool{}
	for i, attribute := range s.SAML.Attributes {
		at := list.Index(i)
		errs = slices.Concat(errs,
			unless(claimName.MatchString(attribute.Claim), at.Child("claim"), attribute.Claim,
				"it must have up to 64 letters, digits, dashes and underscores"),
			unless(attribute.Claim != RemoteIDClaim, at.Child("claim"), attribute.Claim, "it is the entity ID: use another name"),
			unless(samlName.MatchString(attribute.Name), at.Child("name"), attribute.Name,
				"it must have up to 255 letters, digits and -._~:/?#@!&=+,;%"),
		)
		if claims[attribute.Claim] {
			errs = append(errs, field.Duplicate(at, attribute.Claim))
		}
		claims[attribute.Claim] = true
		errs = append(errs, unless(!names[attribute.Name], list, attribute.Name, "each attribute can have one name")...)
		names[attribute.Name] = true
	}
	for _, claim := range s.Claims() {
		errs = append(errs, unless(claims[claim] || !names[claim], list, claim,
			"a mapping uses this claim, and the attribute of that name has another claim: use that one")...)
	}
	return errs
}
