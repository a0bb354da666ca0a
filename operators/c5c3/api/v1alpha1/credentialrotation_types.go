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
	// +kubebuilder:default:={"observedGeneration":-1}
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
//
// +kubebuilder:validation:XValidation:rule="!has(self.intervalDays) || !has(self.preRotationDays) || self.preRotationDays < self.intervalDays",fieldPath=".preRotationDays",message="preRotationDays must be less than intervalDays"
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

	// intervalDays is how long a credential is used, in days. It acts when the
	// rotation mode of the ControlPlane is Scheduled. When it is not set, the
	// credential is not replaced on a schedule.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	IntervalDays *int32 `json:"intervalDays,omitempty"`

	// preRotationDays is how many days before the end of intervalDays the next
	// credential is made, which leaves its users that time to change over. When
	// it is not set, it is made at the end.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=36500
	PreRotationDays *int32 `json:"preRotationDays,omitempty"`

	// gracePeriodDays is how many days the old credential still works after a
	// new one took over. When it is not set, or 0, the old one is revoked two
	// minutes after the new one has reached its users, which leaves their pods
	// that time to read it. It counts for replacements that this
	// CredentialRotation asks for.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=36500
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
	// reconciled; -1 before it has looked at the resource.
	//
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// lastTriggeredGeneration is the generation of the spec whose reMint was
	// last acted on.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	LastTriggeredGeneration int64 `json:"lastTriggeredGeneration,omitempty"`

	// lastRotation is when this CredentialRotation last had the credential
	// replaced.
	//
	// +optional
	LastRotation *metav1.Time `json:"lastRotation,omitempty"`

	// nextRotation is when the next credential is made. It is set while the
	// credential is replaced on a schedule.
	//
	// +optional
	NextRotation *metav1.Time `json:"nextRotation,omitempty"`
}
