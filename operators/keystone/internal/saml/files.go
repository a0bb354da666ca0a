package saml

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/oidc"
)

// MetadataFile is the file of a backend with the metadata of its provider.
const MetadataFile = "metadata.xml"

// Files returns the files of a backend by name. The Secret is the one with the metadata, nil if that is in the
// spec. The error says what is wrong with the metadata.
func Files(b *keystonev1alpha1.KeystoneIdentityBackend, secret *corev1.Secret, now time.Time) (map[string]string, error) {
	s := b.Spec.SAML
	text, at := []byte(s.Metadata.Inline), "spec.saml.metadata.inline"
	if ref := s.Metadata.SecretRef; ref != nil {
		key := ref.KeyOr(keystonev1alpha1.DefaultSAMLMetadataKey)
		text, at = secret.Data[key], fmt.Sprintf("%s of Secret %s of spec.saml.metadata.secretRef", key, ref.Name)
	}
	if _, err := Parse(text, s.EntityID, now); err != nil {
		return nil, fmt.Errorf("%s cannot be used: %w", at, err)
	}
	return map[string]string{MetadataFile: string(text), oidc.ProviderFile: directives(b).String()}, nil
}

// directives are those of the proxy about the provider. Only attributes that mappings use become claims.
func directives(b *keystonev1alpha1.KeystoneIdentityBackend) *oidc.Directives {
	d := &oidc.Directives{}
	d.Set("MellonIdPMetadataFile", oidc.Folder+"/"+b.Name+"/"+MetadataFile)
	names := map[string]string{}
	for _, attribute := range b.Spec.SAML.Attributes {
		names[attribute.Claim] = attribute.Name
	}
	for _, claim := range b.Spec.Claims() {
		if claim == keystonev1alpha1.RemoteIDClaim {
			continue
		}
		name, given := names[claim]
		if !given {
			name = claim
		}
		d.Set("MellonSetEnvNoPrefix", oidc.ClaimPrefix+claim, name)
	}
	return d
}
