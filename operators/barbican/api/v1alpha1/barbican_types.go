package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Barbican is an OpenStack Key Manager service (Barbican) with its database schema, the key
// that encrypts what is in the database, and API pods.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=barbicans,singular=barbican,scope=Namespaced,categories=openstack
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Release",type=string,JSONPath=`.status.installedRelease`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",optionalOldSelf=true,message="name must start with a letter and consist of lower case letters, digits and dashes: it becomes the name of a Service"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || size(self.metadata.name) <= 40",optionalOldSelf=true,message="name must be no longer than 40 characters: Jobs are named after it"
type Barbican struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the Barbican.
	//
	// +required
	Spec BarbicanSpec `json:"spec"`

	// status is the state of the Barbican, as the operator last observed it.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status BarbicanStatus `json:"status,omitzero"`
}

// BarbicanList is a list of Barbicans.
//
// +kubebuilder:object:root=true
type BarbicanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Barbican `json:"items"`
}

// BarbicanSpec describes a Barbican. Everything except the image, the database, the
// cache, the Identity service and the service user has a default.
type BarbicanSpec struct {
	commonv1.ServiceSpec `json:",inline"`
	commonv1.DataSpec    `json:",inline"`
	commonv1.OptionsSpec `json:",inline"`

	// identity is the Identity service whose tokens Barbican accepts.
	//
	// +required
	Identity commonv1.IdentitySpec `json:"identity"`

	// serviceUserSecretRef names the Secret with Barbican's service user: the user name
	// under "username" and the password under key (default "password"), or instead an
	// application credential under "application_credential_id" and
	// "application_credential_secret". Barbican uses this user to validate tokens at the
	// Identity service. The user needs the role "service" on identity.project. The Identity
	// service revokes the tokens of a user whose password changes. To avoid failed
	// requests, refer to a Secret with another user instead, and delete the old user when
	// the Barbican is ready again.
	//
	// +required
	ServiceUserSecretRef commonv1.SecretRefSpec `json:"serviceUserSecretRef"`

	// defaultSecretStore is the name of the BarbicanSecretStore that stores a secret unless its
	// project prefers another store. By default this is the database, in which the key-encryption
	// key protects secrets. The store becomes the default once all pods have it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	DefaultSecretStore string `json:"defaultSecretStore,omitempty"`

	// cleanUp sets when deleted secrets, containers and orders are removed from the database.
	// By default this happens every night, 90 days after they were deleted.
	//
	// +optional
	// +default={}
	CleanUp *commonv1.CleanUpSpec `json:"cleanUp,omitempty"`
}

// BarbicanStatus is the state of a Barbican, as the operator last observed it.
type BarbicanStatus struct {
	commonv1.ServiceStatus `json:",inline"`

	// secretStores lists the BarbicanSecretStores that all pods have, and those that are being deleted.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	SecretStores []commonv1.Attached `json:"secretStores,omitempty"`
}
