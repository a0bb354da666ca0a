package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Placement is an OpenStack Placement service with its database schema and API
// pods.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=placements,singular=placement,scope=Namespaced,categories=openstack
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Release",type=string,JSONPath=`.status.installedRelease`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",optionalOldSelf=true,message="name must start with a letter and consist of lower case letters, digits and dashes: it becomes the name of a Service"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || size(self.metadata.name) <= 40",optionalOldSelf=true,message="name must be no longer than 40 characters: Jobs are named after it"
type Placement struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the Placement.
	//
	// +required
	Spec PlacementSpec `json:"spec"`

	// status is the state of the Placement, as the operator last observed it.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status PlacementStatus `json:"status,omitzero"`
}

// PlacementList is a list of Placements.
//
// +kubebuilder:object:root=true
type PlacementList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Placement `json:"items"`
}

// PlacementSpec describes a Placement. Everything except the image, the database, the
// cache, the Identity service and the service user has a default.
type PlacementSpec struct {
	commonv1.ServiceSpec `json:",inline"`
	commonv1.DataSpec    `json:",inline"`
	commonv1.OptionsSpec `json:",inline"`

	// identity is the Identity service whose tokens Placement accepts.
	//
	// +required
	Identity commonv1.IdentitySpec `json:"identity"`

	// serviceUserSecretRef names the Secret with Placement's service user: the user name
	// under "username" and the password under key (default "password"), or instead an
	// application credential under "application_credential_id" and
	// "application_credential_secret". Placement uses this user to validate tokens at the
	// Identity service. The user needs the role "service" on identity.project. The Identity
	// service revokes the tokens of a user whose password changes. To avoid failed
	// requests, refer to a Secret with another user instead, and delete the old user when
	// the Placement is ready again.
	//
	// +required
	ServiceUserSecretRef commonv1.SecretRefSpec `json:"serviceUserSecretRef"`
}

// PlacementStatus is the state of a Placement, as the operator last observed it.
type PlacementStatus struct {
	commonv1.ServiceStatus `json:",inline"`
}
