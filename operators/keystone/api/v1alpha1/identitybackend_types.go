package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// KeystoneIdentityBackend is a source of users and groups for one domain of a Keystone.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=keystoneidentitybackends,singular=keystoneidentitybackend,scope=Namespaced,categories=openstack
// +kubebuilder:printcolumn:name="Keystone",type=string,JSONPath=`.spec.keystoneRef.name`
// +kubebuilder:printcolumn:name="Domain",type=string,JSONPath=`.spec.domain.name`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$')",optionalOldSelf=true,message="name must be a letter and up to 39 lower case letters, digits and dashes: a Secret is named after it"
type KeystoneIdentityBackend struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the KeystoneIdentityBackend.
	//
	// +required
	Spec KeystoneIdentityBackendSpec `json:"spec"`

	// status is the state of the KeystoneIdentityBackend, as the operator last observed it.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status KeystoneIdentityBackendStatus `json:"status,omitzero"`
}

// KeystoneIdentityBackendList is a list of KeystoneIdentityBackends.
//
// +kubebuilder:object:root=true
type KeystoneIdentityBackendList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []KeystoneIdentityBackend `json:"items"`
}

// Types of backends.
const (
	// IdentityBackendLDAP is the type of a directory that is read with LDAP.
	IdentityBackendLDAP = "LDAP"
	// IdentityBackendOIDC is the type of an OpenID Connect provider.
	IdentityBackendOIDC = "OIDC"
	// IdentityBackendSAML is the type of a SAML 2.0 identity provider.
	IdentityBackendSAML = "SAML"
)

// KeystoneIdentityBackendSpec describes a KeystoneIdentityBackend.
//
// +kubebuilder:validation:XValidation:rule="self.keystoneRef == oldSelf.keystoneRef",fieldPath=".keystoneRef",message="the Keystone cannot be changed: create another backend"
type KeystoneIdentityBackendSpec struct {
	// keystoneRef is the Keystone whose users come from there. It cannot be changed.
	//
	// +required
	KeystoneRef commonv1.ServiceReference `json:"keystoneRef"`

	IdentityBackendSpec `json:",inline"`
}

// IdentityBackendSpec describes a source of users and groups.
//
// +kubebuilder:validation:XValidation:rule="has(self.ldap) == (self.type == 'LDAP')",fieldPath=".type",message="the type LDAP needs the field ldap"
// +kubebuilder:validation:XValidation:rule="has(self.oidc) == (self.type == 'OIDC')",fieldPath=".type",message="the type OIDC needs the field oidc"
// +kubebuilder:validation:XValidation:rule="has(self.saml) == (self.type == 'SAML')",fieldPath=".type",message="the type SAML needs the field saml"
// +kubebuilder:validation:XValidation:rule="has(self.mappings) == (self.type in ['OIDC', 'SAML'])",fieldPath=".mappings",message="the types OIDC and SAML need mappings, and no other type has them"
// +kubebuilder:validation:XValidation:rule="!has(self.mappings) || self.mappings.exists(m, m.local.exists(l, has(l.user)))",fieldPath=".mappings",message="no rule has a user: add one with a name to local"
// +kubebuilder:validation:XValidation:rule="!has(self.groups) || self.type in ['OIDC', 'SAML']",fieldPath=".groups",message="only the types OIDC and SAML have groups here: those of a directory are in the directory"
// +kubebuilder:validation:XValidation:rule="self.type == oldSelf.type && (!has(self.oidc) || !has(oldSelf.oidc) || (has(self.oidc.identityProvider) ? self.oidc.identityProvider : '-') == (has(oldSelf.oidc.identityProvider) ? oldSelf.oidc.identityProvider : '-') && (has(self.oidc.protocol) ? self.oidc.protocol : 'openid') == (has(oldSelf.oidc.protocol) ? oldSelf.oidc.protocol : 'openid')) && (!has(self.saml) || !has(oldSelf.saml) || (has(self.saml.identityProvider) ? self.saml.identityProvider : '-') == (has(oldSelf.saml.identityProvider) ? oldSelf.saml.identityProvider : '-') && (has(self.saml.protocol) ? self.saml.protocol : 'saml2') == (has(oldSelf.saml.protocol) ? oldSelf.saml.protocol : 'saml2'))",fieldPath=".type",message="the type and the names of the identity provider and of the protocol cannot be changed: create another backend"
type IdentityBackendSpec struct {
	// domain is the domain of these users and groups.
	//
	// +required
	Domain IdentityDomainSpec `json:"domain"`

	// type is the type of the backend: LDAP for a directory, OIDC for an OpenID Connect provider, SAML for
	// a SAML 2.0 identity provider. It cannot be changed.
	//
	// +required
	// +kubebuilder:validation:Enum=LDAP;OIDC;SAML
	Type string `json:"type"`

	// ldap describes the directory of a backend of the type LDAP.
	//
	// +optional
	LDAP *LDAPSpec `json:"ldap,omitempty"`

	// oidc describes the provider of a backend of the type OIDC.
	//
	// +optional
	OIDC *OIDCSpec `json:"oidc,omitempty"`

	// saml describes the provider of a backend of the type SAML.
	//
	// +optional
	SAML *SAMLSpec `json:"saml,omitempty"`

	// mappings are the rules by which users of the provider become users and members of groups. All
	// rules that apply to somebody count.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Mappings []MappingRule `json:"mappings,omitempty"`

	// groups are groups in the domain of a backend of the type OIDC or SAML, with their roles.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Groups []IdentityGroup `json:"groups,omitempty"`
}

// DomainMode says where the domain of an identity backend comes from.
//
// +kubebuilder:validation:Enum=Manage;Adopt
type DomainMode string

const (
	// DomainManage creates the domain, and refuses one that something else has created.
	DomainManage DomainMode = "Manage"
	// DomainAdopt takes a domain that exists.
	DomainAdopt DomainMode = "Adopt"
)

// IdentityDomainSpec describes the domain of an identity backend.
//
// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name && self.mode == oldSelf.mode",message="the name and the mode cannot be changed: create another backend"
// +kubebuilder:validation:XValidation:rule="self.deletionPolicy != 'Delete' || self.mode != 'Adopt'",fieldPath=".deletionPolicy",message="the operator deletes only a domain that it has created: set Retain, and delete the domain with the OpenStack client"
type IdentityDomainSpec struct {
	// name is the name of the domain. It cannot be changed. Those of the cloud's own users, such
	// as "Default", are refused. Example: "staff".
	//
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!(self.lowerAscii() in ['default', 'service', 'admin'])",message="the domain has users of the cloud itself, which stay in the database: name another one"
	Name string `json:"name"`

	// mode says where the domain comes from. With "Manage" the operator creates it, and refuses
	// one that something else has created; with "Adopt" it must exist. It cannot be changed.
	//
	// +optional
	// +default="Manage"
	Mode DomainMode `json:"mode,omitempty"`

	// deletionPolicy determines what happens to the domain when the backend is deleted. With "Retain"
	// it stays, with its projects and roles. With "Delete" the operator deletes a domain that it has
	// created, with all of them; it asks for an annotation before it deletes a domain that is not empty.
	//
	// +optional
	// +default="Retain"
	DeletionPolicy commonv1.DeletionPolicy `json:"deletionPolicy,omitempty"`

	// description is the description of a domain that the operator creates.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Description string `json:"description,omitempty"`
}

// KeystoneIdentityBackendStatus is the state of a KeystoneIdentityBackend, as the operator last
// observed it.
type KeystoneIdentityBackendStatus struct {
	commonv1.AttachmentStatus `json:",inline"`

	// domainID is the ID of the domain in Keystone.
	//
	// +optional
	DomainID string `json:"domainID,omitempty"`

	// metadataURL is the URL of the document that describes Keystone to the provider of a backend of the
	// type SAML. It is also the entity ID of Keystone, unless the spec has another one.
	//
	// +optional
	MetadataURL string `json:"metadataURL,omitempty"`
}
