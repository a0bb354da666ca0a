package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CredentialRotation requests the replacement of a credential of the namespace's
// ControlPlane, at once or on a schedule.
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

	// spec is the requested rotation.
	//
	// +required
	Spec CredentialRotationSpec `json:"spec"`

	// status is the progress of the rotation.
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

// CredentialRotationSpec determines which credential is replaced, and when.
//
// +kubebuilder:validation:XValidation:rule="!has(self.intervalDays) || !has(self.preRotationDays) || self.preRotationDays < self.intervalDays",fieldPath=".preRotationDays",message="preRotationDays must be less than intervalDays"
type CredentialRotationSpec struct {
	// target is the credential to replace.
	//
	// +required
	Target RotationTarget `json:"target"`

	// bootstrap requests the first credential instead of a replacement. If a credential
	// already exists, nothing happens. The default is false.
	//
	// +optional
	// +default=false
	Bootstrap bool `json:"bootstrap,omitempty"`

	// reMint requests a new credential even if the one in use works. It acts once for each change of this spec. The default is false.
	//
	// +optional
	// +default=false
	ReMint bool `json:"reMint,omitempty"`

	// intervalDays is how long a credential is used, in days. It takes effect
	// only if the rotation mode of the ControlPlane is Scheduled. When it is
	// not set, the credential is not replaced on a schedule.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	IntervalDays *int32 `json:"intervalDays,omitempty"`

	// preRotationDays is how many days before the end of the interval the next credential
	// is created. Clients have that time to switch to it. When it is not set, the next
	// credential is created at the end of the interval.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=36500
	PreRotationDays *int32 `json:"preRotationDays,omitempty"`

	// gracePeriodDays is how many days the old credential remains valid after a new one has
	// replaced it. When it is not set, or 0, the old credential is revoked two minutes
	// after the new one has reached its clients, so that their pods have time to read it.
	// It applies only to replacements that this CredentialRotation requests.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=36500
	GracePeriodDays *int32 `json:"gracePeriodDays,omitempty"`
}

// CredentialRotationStatus is the progress of a rotation.
type CredentialRotationStatus struct {
	// conditions report the progress of the rotation; Ready is True when it
	// is done.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the operator last
	// reconciled; -1 before the first reconciliation.
	//
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// lastTriggeredGeneration is the generation of the spec whose reMint the operator last
	// handled.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	LastTriggeredGeneration int64 `json:"lastTriggeredGeneration,omitempty"`

	// lastRotation is when the credential was last replaced for this CredentialRotation.
	//
	// +optional
	LastRotation *metav1.Time `json:"lastRotation,omitempty"`

	// nextRotation is when the next credential is created. It is set only with a schedule.
	//
	// +optional
	NextRotation *metav1.Time `json:"nextRotation,omitempty"`
}
