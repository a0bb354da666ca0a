package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Horizon is an OpenStack dashboard (Horizon): pods that serve web pages, whose sessions
// are in memcached.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=horizons,singular=horizon,scope=Namespaced,categories=openstack
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Release",type=string,JSONPath=`.status.installedRelease`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",optionalOldSelf=true,message="name must start with a letter and consist of lower case letters, digits and dashes: it becomes the name of a Service"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || size(self.metadata.name) <= 40",optionalOldSelf=true,message="name must be no longer than 40 characters: Jobs are named after it"
type Horizon struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the Horizon. cache.backend has no effect: sessions are
	// stored with the client pymemcache.
	//
	// +required
	Spec HorizonSpec `json:"spec"`

	// status is the state of the Horizon, as the operator last observed it.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status HorizonStatus `json:"status,omitzero"`
}

// HorizonList is a list of Horizons.
//
// +kubebuilder:object:root=true
type HorizonList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Horizon `json:"items"`
}

// HorizonSpec describes a Horizon. Everything except the image, the cache and the Identity
// service has a default.
//
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || !has(self.gateway.path) || self.gateway.path == '/'",fieldPath=".gateway.path",message="path must be '/': the pages and their static files link to the root of the host"
type HorizonSpec struct {
	commonv1.ServiceSpec `json:",inline"`

	// identity is the Identity service at which users log in. Its catalog decides which
	// panels they see.
	//
	// +required
	Identity HorizonIdentitySpec `json:"identity"`

	// secretKeyRef names the Secret with the key that signs cookies, at least 50 characters
	// under key (default "secret-key"). Another key ends all sessions. When it is not set, the
	// operator generates a key once, and keeps it in a Secret named after the Horizon with the
	// suffix "-secret-key".
	//
	// +optional
	SecretKeyRef *commonv1.SecretRefSpec `json:"secretKeyRef,omitempty"`

	// settings adds settings to those of Horizon and Django, by name, and takes precedence
	// over their defaults. A value can be of any type of JSON. The operator sets some itself,
	// such as SECRET_KEY and ALLOWED_HOSTS, and refuses them here. The image reads the
	// settings before pods get them. Example: {"SESSION_TIMEOUT": 7200}.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	Settings map[string]apiextensionsv1.JSON `json:"settings,omitempty"`
}

// HorizonIdentitySpec describes the Identity service of a Horizon.
type HorizonIdentitySpec struct {
	// authURL is the URL of the Identity API that the pods use. Example:
	// "http://keystone.openstack.svc:5000/v3".
	//
	// +required
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://[^\s/$]+(/[^\s$]*)?$`
	AuthURL string `json:"authURL"`

	// multiDomain asks users for their domain when they log in. When it is not set or false,
	// they log in to userDomain.
	//
	// +optional
	MultiDomain bool `json:"multiDomain,omitempty"`

	// userDomain is the name of the domain of users who do not name one. The default is
	// "Default".
	//
	// +optional
	// +default="Default"
	// +kubebuilder:validation:MaxLength=64
	UserDomain string `json:"userDomain,omitempty"`

	// domains are other domains of users, such as those of a directory. The login page has a list of
	// them, with userDomain as the first. Example: ["staff"].
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	Domains []string `json:"domains,omitempty"`

	// providers are identity providers of Keystone. The login page has a list of them, after the login
	// with a password. Keystone must trust this Horizon: see trustedDashboards of the Keystone.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Providers []HorizonIdentityProvider `json:"providers,omitempty"`

	// publicURL is the URL of the Identity API for browsers, which go there to log in at a provider. The
	// default is authURL. Example: "https://keystone.example.com/v3".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://[^\s/$]+(/[^\s$]*)?$`
	PublicURL string `json:"publicURL,omitempty"`
}

// HorizonIdentityProvider is an identity provider of Keystone.
type HorizonIdentityProvider struct {
	// name is the name of the identity provider in Keystone. Example: "company".
	//
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-_A-Za-z0-9]*[A-Za-z0-9])?$`
	Name string `json:"name"`

	// protocol is the name of the protocol in Keystone. Example: "openid".
	//
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-_A-Za-z0-9]*[A-Za-z0-9])?$`
	Protocol string `json:"protocol"`
}

// HorizonStatus is the state of a Horizon, as the operator last observed it.
type HorizonStatus struct {
	commonv1.ServiceStatus `json:",inline"`
}
