package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Keystone is an OpenStack Identity service (Keystone) with its database
// schema, keys, API pods and first administrator.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=keystones,singular=keystone,scope=Namespaced,categories=openstack
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Release",type=string,JSONPath=`.status.installedRelease`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",optionalOldSelf=true,message="name must start with a letter and consist of lower case letters, digits and dashes: it becomes the name of a Service"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || size(self.metadata.name) <= 34",optionalOldSelf=true,message="name must be no longer than 34 characters: CronJobs are named after it"
type Keystone struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the Keystone. Four options of keystone.conf are
	// reserved, and other values are refused: key_repository in fernet_tokens and in
	// credential, provider in token, and proxies in cache. In addition, the Secret of
	// extraConfigSecretRef must not set connection in database, or expiration and
	// allow_expired_window in token. If the database stays after the deletion of the
	// Keystone, the keys and their copies in the secret store stay, too.
	//
	// +required
	Spec KeystoneSpec `json:"spec"`

	// status is the state of the Keystone, as the operator last observed it.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status KeystoneStatus `json:"status,omitzero"`
}

// KeystoneList is a list of Keystones.
//
// +kubebuilder:object:root=true
type KeystoneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Keystone `json:"items"`
}

// KeystoneSpec describes a Keystone. Everything except the image, the database, the
// cache and the administrator's password has a default.
//
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || !has(self.bootstrap.publicEndpoint) || (isURL(self.bootstrap.publicEndpoint) && url(self.bootstrap.publicEndpoint).getScheme() == 'https' && url(self.bootstrap.publicEndpoint).getHostname() == self.gateway.hostname)",fieldPath=".bootstrap.publicEndpoint",message="publicEndpoint must be an https URL with the host of gateway.hostname"
type KeystoneSpec struct {
	commonv1.ServiceSpec `json:",inline"`
	commonv1.DataSpec    `json:",inline"`
	commonv1.OptionsSpec `json:",inline"`

	// fernet sets how the keys that sign tokens are rotated.
	//
	// +optional
	// +default={}
	Fernet FernetSpec `json:"fernet,omitzero"`

	// credentialKeys sets how the keys that encrypt stored credentials are
	// rotated.
	//
	// +optional
	// +default={}
	CredentialKeys CredentialKeysSpec `json:"credentialKeys,omitzero"`

	// trustFlush sets when expired trusts are deleted from the database. By default this
	// happens every hour; set suspend to pause it.
	//
	// +optional
	// +default={}
	TrustFlush *TrustFlushSpec `json:"trustFlush,omitempty"`

	// federation turns on federated identity. When it is not set, the login methods mapped,
	// openid and saml2 are disabled.
	//
	// +optional
	Federation *FederationSpec `json:"federation,omitempty"`

	// proxyImage is the image of the proxy in the pods of a Keystone with a KeystoneIdentityBackend of
	// the type OIDC. The default is "ghcr.io/c5c3/keystone-proxy" with the tag "2.4".
	//
	// +optional
	ProxyImage *commonv1.ImageSpec `json:"proxyImage,omitempty"`

	// trustedDashboards are the URLs to which Keystone sends a browser with a token after a login at
	// a provider. A ControlPlane adds that of its Horizon. Example:
	// ["https://horizon.example.com/auth/websso/"].
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=255
	// +kubebuilder:validation:items:Pattern=`^https?://[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[-._~%:@+A-Za-z0-9]*)*$`
	TrustedDashboards []string `json:"trustedDashboards,omitempty"`

	// bootstrap describes the first administrator, the region and the catalog
	// entry of Keystone itself.
	//
	// +required
	Bootstrap BootstrapSpec `json:"bootstrap"`

	// middleware adds filters to the request pipeline.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Middleware []MiddlewareSpec `json:"middleware,omitempty"`

	// plugins configures plugins and drivers that the image contains, each in
	// its own section of keystone.conf.
	//
	// +optional
	// +listType=map
	// +listMapKey=configSection
	// +kubebuilder:validation:MaxItems=64
	Plugins []PluginSpec `json:"plugins,omitempty"`
}

// KeystoneStatus is the state of a Keystone, as the operator last observed it.
type KeystoneStatus struct {
	commonv1.ServiceStatus `json:",inline"`

	// identityBackends lists the KeystoneIdentityBackends that all pods have, and those that are
	// verified or deleted.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	IdentityBackends []commonv1.Attached `json:"identityBackends,omitempty"`

	// identityDomains lists the domains whose users come from a KeystoneIdentityBackend that all pods
	// have. Users can log in there.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	IdentityDomains []IdentityDomain `json:"identityDomains,omitempty"`
}

// IdentityDomain is a domain whose users come from a KeystoneIdentityBackend.
type IdentityDomain struct {
	// name is the name of the domain.
	//
	// +required
	Name string `json:"name"`

	// identityProvider is the name in Keystone of the provider at which these users log in. It is not
	// set for those of a directory, who log in with a password.
	//
	// +optional
	IdentityProvider string `json:"identityProvider,omitempty"`

	// protocol is the name in Keystone of the protocol of that login.
	//
	// +optional
	Protocol string `json:"protocol,omitempty"`
}
