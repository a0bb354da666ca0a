package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CredentialRotation asks for a credential of the namespace's ControlPlane to
// be replaced, at once or again and again.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=credentialrotations,singular=credentialrotation,scope=Namespaced,categories=openstack
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.target`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CredentialRotation struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the rotation that is asked for.
	//
	// +required
	Spec CredentialRotationSpec `json:"spec"`

	// status is how far the rotation has come.
	//
	// +optional
	Status CredentialRotationStatus `json:"status,omitzero"`
}

// CredentialRotationList is a list of CredentialRotations.
//
// +kubebuilder:object:root=true
type CredentialRotationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []CredentialRotation `json:"items"`
}

// RotationTarget names a credential of a control plane.
//
// +kubebuilder:validation:Enum=adminApplicationCredential
type RotationTarget string

// RotationTargetAdminApplicationCredential is the application credential K-ORC
// works with.
const RotationTargetAdminApplicationCredential RotationTarget = "adminApplicationCredential"

// CredentialRotationSpec says which credential is replaced, and when.
type CredentialRotationSpec struct {
	// target is the credential that is replaced.
	//
	// +required
	Target RotationTarget `json:"target"`

	// bootstrap asks for the first credential instead of a new one. If there
	// is one already, nothing happens. The default is false.
	//
	// +optional
	// +default=false
	Bootstrap bool `json:"bootstrap,omitempty"`

	// reMint asks for a new credential even if the one in use is fine. It acts
	// once for each change of this spec. The default is false.
	//
	// +optional
	// +default=false
	ReMint bool `json:"reMint,omitempty"`

	// intervalDays is the time between two rotations, in days. When it is not
	// set, the credential is not replaced on a schedule.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	IntervalDays *int32 `json:"intervalDays,omitempty"`

	// preRotationDays is how many days before the end of an interval the new
	// credential is made.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	PreRotationDays *int32 `json:"preRotationDays,omitempty"`

	// gracePeriodDays is how many days the old credential still works after a
	// new one took over.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	GracePeriodDays *int32 `json:"gracePeriodDays,omitempty"`
}

// CredentialRotationStatus is how far a rotation has come.
type CredentialRotationStatus struct {
	// conditions tell how far the rotation has come; Ready is True when it is
	// done.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the operator last
	// worked on.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// lastTriggeredGeneration is the generation of the spec whose reMint was
	// last acted on.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	LastTriggeredGeneration int64 `json:"lastTriggeredGeneration,omitempty"`
}

// GetConditions returns the conditions of the status.
func (r *CredentialRotation) GetConditions() []metav1.Condition {
	return r.Status.Conditions
}

// SetConditions replaces the conditions of the status.
func (r *CredentialRotation) SetConditions(conditions []metav1.Condition) {
	r.Status.Conditions = conditions
}
