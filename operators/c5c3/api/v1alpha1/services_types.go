package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// ServicesSpec holds the OpenStack services of a control plane.
//
// +kubebuilder:validation:XValidation:rule="!has(self.horizon) || has(self.keystone)",fieldPath=".horizon",message="horizon needs the Identity service: set services.keystone, too"
// +kubebuilder:validation:XValidation:rule="!has(self.barbican) || has(self.keystone)",fieldPath=".barbican",message="barbican needs the Identity service: set services.keystone, too"
// +kubebuilder:validation:XValidation:rule="!has(self.placement) || has(self.keystone)",fieldPath=".placement",message="placement needs the Identity service: set services.keystone, too"
// +kubebuilder:validation:XValidation:rule="!has(self.glance) || has(self.keystone)",fieldPath=".glance",message="glance needs the Identity service: set services.keystone, too"
type ServicesSpec struct {
	// keystone is the Identity service. When it is not set, the operator does not deploy
	// it.
	//
	// +optional
	Keystone *ServiceKeystoneSpec `json:"keystone,omitempty"`

	// barbican is the Key Manager service. It requires keystone. When it is not set, the
	// operator does not deploy it.
	//
	// +optional
	Barbican *ServiceBarbicanSpec `json:"barbican,omitempty"`

	// placement is the Placement service. It requires keystone. When it is not set, the
	// operator does not deploy it.
	//
	// +optional
	Placement *ServicePlacementSpec `json:"placement,omitempty"`

	// glance is the Image service. It requires keystone. When it is not set, the operator does
	// not deploy it.
	//
	// +optional
	Glance *ServiceGlanceSpec `json:"glance,omitempty"`

	// horizon is the dashboard. It requires keystone. When it is not set, the operator does
	// not deploy it.
	//
	// +optional
	Horizon *ServiceHorizonSpec `json:"horizon,omitempty"`
}

// ServiceSpec holds the settings that a control plane offers for each of its
// services. Everything else can be set on the service's own resource.
type ServiceSpec struct {
	// replicas is the number of pods. When it is not set, the service's own
	// default applies.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`

	// image is the container image of the service. When it is not set, it is
	// "ghcr.io/c5c3/" followed by the service's name, with openStackRelease as its tag.
	//
	// +optional
	Image *commonv1.ImageSpec `json:"image,omitempty"`

	// imagePullSecrets name Secrets of type kubernetes.io/dockerconfigjson
	// that every pod of the service uses to pull its image. Example:
	// [{"name": "registry"}].
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(s, size(s.name) > 0)",message="name the Secret with which the image is pulled"
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	commonv1.PodSettings `json:",inline"`

	// resources are the CPU and memory requests and limits of an API pod. When it is not set,
	// the service's own default applies.
	//
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// gateway publishes the service through a Gateway. When it is not set, the service
	// is reachable inside the cluster only.
	//
	// +optional
	Gateway *commonv1.GatewaySpec `json:"gateway,omitempty"`
}

// ServiceAPISpec holds the settings of services with an API that clients look up in the catalog.
//
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || !has(self.publicEndpoint) || (isURL(self.publicEndpoint) && url(self.publicEndpoint).getScheme() == 'https' && url(self.publicEndpoint).getHostname() == self.gateway.hostname)",fieldPath=".publicEndpoint",message="publicEndpoint must be an https URL with the host of gateway.hostname"
type ServiceAPISpec struct {
	// policyOverrides changes rules of the service's API policy and takes precedence over global.
	//
	// +optional
	PolicyOverrides *commonv1.PolicySpec `json:"policyOverrides,omitempty"`

	// publicEndpoint is the service's URL for clients outside the cluster. When it is not
	// set, the operator derives it from gateway. Example:
	// "https://keystone.example.com:8443/v3".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://\S+$`
	PublicEndpoint string `json:"publicEndpoint,omitempty"`
}

// ServiceKeystoneSpec holds the settings of Keystone that a control plane
// offers. Everything else can be set on the Keystone resource itself.
type ServiceKeystoneSpec struct {
	ServiceSpec    `json:",inline"`
	ServiceAPISpec `json:",inline"`

	// rotationInterval is the time between two rotations of the token and
	// credential keys, in whole days. When it is not set, Keystone's own
	// default applies. Example: "168h".
	//
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s') && duration(self).getMilliseconds() % 86400000 == 0",message="rotationInterval must be a positive multiple of 24h, for example 168h"
	RotationInterval *metav1.Duration `json:"rotationInterval,omitempty"`

	// identityBackends are the sources of users other than the database; each becomes a
	// KeystoneIdentityBackend, and has a domain of its own. One that is removed is deleted, with its
	// domain as domain.deletionPolicy says. The control plane is ready without them.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.domain.name.lowerAscii() == a.domain.name.lowerAscii()))",message="each domain can have one backend"
	IdentityBackends []ServiceKeystoneIdentityBackendSpec `json:"identityBackends,omitempty"`

	// proxyImage is the image of the proxy in the pods of a Keystone with a backend of the type OIDC or
	// SAML. When it is not set, Keystone's own default applies.
	//
	// +optional
	ProxyImage *commonv1.ImageSpec `json:"proxyImage,omitempty"`
}

// ServiceKeystoneIdentityBackendSpec is a source of users and groups for one domain of Keystone.
type ServiceKeystoneIdentityBackendSpec struct {
	// name is the name of the KeystoneIdentityBackend.
	//
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$`
	Name string `json:"name"`

	keystonev1alpha1.IdentityBackendSpec `json:",inline"`
}

// ServiceBarbicanSpec holds the settings of Barbican that a control plane
// offers. Everything else can be set on the Barbican resource itself.
type ServiceBarbicanSpec struct {
	ServiceSpec    `json:",inline"`
	ServiceAPISpec `json:",inline"`

	// database is Barbican's database on the server of infrastructure.database.
	// The default is "barbican", with the credentials in Secret "barbican-db".
	//
	// +optional
	// +default={}
	Database BarbicanDatabaseSpec `json:"database,omitzero"`

	// secretStores are the places other than the database in which Barbican stores secrets; each
	// becomes a BarbicanSecretStore. New secrets are stored in the first one. Barbican accepts
	// only one of the type Vault. One that is removed is deleted when no secret is in it any more.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	SecretStores []ServiceBarbicanSecretStoreSpec `json:"secretStores,omitempty"`
}

// ServiceBarbicanSecretStoreSpec is a place in which Barbican stores secrets.
type ServiceBarbicanSecretStoreSpec struct {
	// name is the name of the BarbicanSecretStore.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	barbicanv1alpha1.SecretStoreSpec `json:",inline"`
}

// BarbicanDatabaseSpec is a database on the server of infrastructure.database. In
// managed mode the operator provides the credentials itself, and secretRef is not used.
type BarbicanDatabaseSpec struct {
	// database is the name of the database. It must differ from those of the other
	// services and cannot be changed later. The default is "barbican".
	//
	// +optional
	// +default="barbican"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="database name is immutable"
	Database string `json:"database,omitempty"`

	// secretRef names the Secret with the credentials: the user under
	// "username", the password under key (default "password"). The default is
	// "barbican-db".
	//
	// +optional
	// +default={"name":"barbican-db"}
	SecretRef commonv1.SecretRefSpec `json:"secretRef,omitzero"`
}

// ServiceGlanceSpec holds the settings of Glance that a control plane
// offers. Everything else can be set on the Glance resource itself.
type ServiceGlanceSpec struct {
	ServiceSpec    `json:",inline"`
	ServiceAPISpec `json:",inline"`

	// database is Glance's database on the server of infrastructure.database.
	// The default is "glance", with the credentials in Secret "glance-db".
	//
	// +optional
	// +default={}
	Database GlanceDatabaseSpec `json:"database,omitzero"`

	// backends are the places in which Glance stores images; each becomes a GlanceBackend. The
	// first one stores an image unless its upload names another one. One that is removed is
	// deleted when no image is in it any more. Without any, create GlanceBackends yourself.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Backends []ServiceGlanceBackendSpec `json:"backends,omitempty"`
}

// ServiceGlanceBackendSpec is a place in which Glance stores images.
type ServiceGlanceBackendSpec struct {
	// name is the name of the GlanceBackend, and of the store in Glance.
	//
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$') && !(self in ['barbican', 'cache', 'cors', 'database', 'healthcheck', 'paste', 'profiler', 'task', 'wsgi'])",message="name must be that of a store: a letter and up to 39 lower case letters, digits and dashes, and no section of Glance's own"
	Name string `json:"name"`

	glancev1alpha1.BackendSpec `json:",inline"`
}

// GlanceDatabaseSpec is a database on the server of infrastructure.database. In
// managed mode the operator provides the credentials itself, and secretRef is not used.
type GlanceDatabaseSpec struct {
	// database is the name of the database. It must differ from those of the other
	// services and cannot be changed later. The default is "glance".
	//
	// +optional
	// +default="glance"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="database name is immutable"
	Database string `json:"database,omitempty"`

	// secretRef names the Secret with the credentials: the user under
	// "username", the password under key (default "password"). The default is
	// "glance-db".
	//
	// +optional
	// +default={"name":"glance-db"}
	SecretRef commonv1.SecretRefSpec `json:"secretRef,omitzero"`
}

// ServiceHorizonSpec holds the settings of Horizon that a control plane offers. Everything else
// can be set on the Horizon resource itself.
type ServiceHorizonSpec struct {
	ServiceSpec `json:",inline"`

	// secretKeyRef names the Secret with the key that signs cookies, at least 50 characters
	// under key (default "secret-key"). Another key ends all sessions. When it is not set, the
	// Horizon operator generates a key once.
	//
	// +optional
	SecretKeyRef *commonv1.SecretRefSpec `json:"secretKeyRef,omitempty"`
}

// ServicePlacementSpec holds the settings of Placement that a control plane
// offers. Everything else can be set on the Placement resource itself.
type ServicePlacementSpec struct {
	ServiceSpec    `json:",inline"`
	ServiceAPISpec `json:",inline"`

	// database is Placement's database on the server of infrastructure.database.
	// The default is "placement", with the credentials in Secret "placement-db".
	//
	// +optional
	// +default={}
	Database PlacementDatabaseSpec `json:"database,omitzero"`
}

// PlacementDatabaseSpec is a database on the server of infrastructure.database. In
// managed mode the operator provides the credentials itself, and secretRef is not used.
type PlacementDatabaseSpec struct {
	// database is the name of the database. It must differ from those of the other
	// services and cannot be changed later. The default is "placement".
	//
	// +optional
	// +default="placement"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="database name is immutable"
	Database string `json:"database,omitempty"`

	// secretRef names the Secret with the credentials: the user under
	// "username", the password under key (default "password"). The default is
	// "placement-db".
	//
	// +optional
	// +default={"name":"placement-db"}
	SecretRef commonv1.SecretRefSpec `json:"secretRef,omitzero"`
}
