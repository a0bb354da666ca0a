package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Glance is an OpenStack Glance service with its database schema and API
// pods.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=glances,singular=glance,scope=Namespaced,categories=openstack
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Release",type=string,JSONPath=`.status.installedRelease`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",optionalOldSelf=true,message="name must start with a letter and consist of lower case letters, digits and dashes: it becomes the name of a Service"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || size(self.metadata.name) <= 40",optionalOldSelf=true,message="name must be no longer than 40 characters: Jobs are named after it"
type Glance struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the Glance.
	//
	// +required
	Spec GlanceSpec `json:"spec"`

	// status is the state of the Glance, as the operator last observed it.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status GlanceStatus `json:"status,omitzero"`
}

// GlanceList is a list of Glances.
//
// +kubebuilder:object:root=true
type GlanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Glance `json:"items"`
}

// GlanceSpec describes a Glance. Everything except the image, the database, the
// cache, the Identity service and the service user has a default.
type GlanceSpec struct {
	commonv1.ServiceSpec `json:",inline"`
	commonv1.DataSpec    `json:",inline"`
	commonv1.OptionsSpec `json:",inline"`

	// identity is the Identity service whose tokens Glance accepts.
	//
	// +required
	Identity commonv1.IdentitySpec `json:"identity"`

	// serviceUserSecretRef names the Secret with Glance's service user: the user name
	// under "username" and the password under key (default "password"), or instead an
	// application credential under "application_credential_id" and
	// "application_credential_secret". Glance uses this user to validate tokens at the
	// Identity service. The user needs the role "service" on identity.project. The Identity
	// service revokes the tokens of a user whose password changes. To avoid failed
	// requests, refer to a Secret with another user instead, and delete the old user when
	// the Glance is ready again.
	//
	// +required
	ServiceUserSecretRef commonv1.SecretRefSpec `json:"serviceUserSecretRef"`

	// defaultBackend is the name of the GlanceBackend that stores an image unless its upload
	// names another one. By default it is the oldest one.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=40
	DefaultBackend string `json:"defaultBackend,omitempty"`

	// stagingSize is the size of the space in each pod in which images wait that Glance imports. A
	// pod that needs more is replaced, and its imports fail. The default is 20Gi.
	//
	// +optional
	// +default="20Gi"
	StagingSize *resource.Quantity `json:"stagingSize,omitempty"`

	// cleanUp sets when deleted images and tasks are removed from the database. By default this
	// happens every night, 90 days after they were deleted. The identifiers of images are kept.
	//
	// +optional
	// +default={}
	CleanUp *commonv1.CleanUpSpec `json:"cleanUp,omitempty"`

	// webDownload lets Glance import images from URLs. By default it does not.
	//
	// +optional
	WebDownload *WebDownloadSpec `json:"webDownload,omitempty"`
}

// WebDownloadSpec describes from where Glance downloads images.
type WebDownloadSpec struct {
	// allowedHosts are the names of the hosts from which Glance downloads images, over HTTP and
	// HTTPS. Names of the cluster, addresses, and names of metadata services are not allowed.
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=253
	AllowedHosts []string `json:"allowedHosts"`
}

// GlanceStatus is the state of a Glance, as the operator last observed it.
type GlanceStatus struct {
	commonv1.ServiceStatus `json:",inline"`

	// backends lists the GlanceBackends that all pods have, and those that are being deleted.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	Backends []commonv1.Attached `json:"backends,omitempty"`
}
