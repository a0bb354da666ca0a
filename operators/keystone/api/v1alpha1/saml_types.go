package v1alpha1

import (
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// SAMLProtocol is the name of a protocol in Keystone, which is also that of the method with which users log in.
//
// +kubebuilder:validation:Enum=saml2;mapped
type SAMLProtocol string

// The names for which Keystone has a plugin.
const (
	SAMLProtocolSAML2  SAMLProtocol = "saml2"
	SAMLProtocolMapped SAMLProtocol = "mapped"
)

// SAMLSpec describes a SAML 2.0 identity provider.
type SAMLSpec struct {
	// entityID is the entity ID of the provider, exactly as its metadata has it. Example:
	// "https://login.example.com/saml/metadata".
	//
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[-._~:/?#@!&=+,;%A-Za-z0-9]+$`
	EntityID string `json:"entityID"`

	// metadata is the document that describes the provider.
	//
	// +required
	Metadata SAMLMetadata `json:"metadata"`

	// attributes give attributes of the provider the names by which mappings refer to them. A claim without
	// an entry is the attribute of the same name, and NAME_ID is the identifier of the user.
	//
	// +optional
	// +listType=map
	// +listMapKey=claim
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.name == a.name))",message="each attribute can have one name"
	Attributes []SAMLAttribute `json:"attributes,omitempty"`

	// serviceProviderID is the entity ID by which the provider knows Keystone. The default is
	// status.metadataURL. Example: "https://keystone.example.com".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[-._~:/?#@!&=+,;%A-Za-z0-9]+$`
	ServiceProviderID string `json:"serviceProviderID,omitempty"`

	// identityProvider is the name of the identity provider in Keystone. The default is the name of
	// the backend. It cannot be changed. Example: "company".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-_A-Za-z0-9]*[A-Za-z0-9])?$`
	IdentityProvider string `json:"identityProvider,omitempty"`

	// protocol is the name of the protocol in Keystone: "saml2", which is the default, or "mapped".
	// It cannot be changed.
	//
	// +optional
	Protocol SAMLProtocol `json:"protocol,omitempty"`
}

// SAMLMetadata is where the metadata of a provider is. Exactly one of its fields is set.
//
// +kubebuilder:validation:XValidation:rule="has(self.inline) != has(self.secretRef)",message="set one of inline and secretRef"
type SAMLMetadata struct {
	// inline is the document.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=262144
	Inline string `json:"inline,omitempty"`

	// secretRef names the Secret with the document. The key defaults to "metadata.xml".
	//
	// +optional
	SecretRef *commonv1.SecretRefSpec `json:"secretRef,omitempty"`
}

// SAMLAttribute gives an attribute a name for mappings.
type SAMLAttribute struct {
	// claim is the name by which mappings refer to the attribute. Example: "email".
	//
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_][-_A-Za-z0-9]*$`
	Claim string `json:"claim"`

	// name is the name of the attribute in assertions. Example: "urn:oid:0.9.2342.19200300.100.1.3".
	//
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[-._~:/?#@!&=+,;%A-Za-z0-9]+$`
	Name string `json:"name"`
}
