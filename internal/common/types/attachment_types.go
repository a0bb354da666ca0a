package types

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ServiceReference names the service that a resource belongs to, in the same namespace.
type ServiceReference struct {
	// name is the name of the service.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name"`
}

// CredentialsReference names a Secret in the namespace of the resource. The field says which of
// its entries are read.
type CredentialsReference struct {
	// name is the name of the Secret.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// AttachmentStatus is the state of a resource that a service takes into its configuration.
type AttachmentStatus struct {
	// conditions report whether the service accepts the resource, and whether its pods use it.
	// Ready summarises the others; the message of a condition that is False says what to do.
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

	// configuration identifies the spec and the credentials that the operator last read. It
	// reveals nothing about them.
	//
	// +optional
	Configuration string `json:"configuration,omitempty"`
}

// AttachedPhase is how far the end of an attached resource is.
//
// +kubebuilder:validation:Enum=Emptying;Releasing;Released
type AttachedPhase string

// Phases of an attached resource that is being deleted.
const (
	// AttachedEmptying lasts until nothing is stored in it any more.
	AttachedEmptying AttachedPhase = "Emptying"
	// AttachedReleasing lasts until no pod has it any more, and still nothing is stored in it.
	AttachedReleasing AttachedPhase = "Releasing"
	// AttachedReleased is the end: the service does not need it any more.
	AttachedReleased AttachedPhase = "Released"
)

// Attached is a resource in the configuration of a service.
type Attached struct {
	// name is the name of the resource.
	//
	// +required
	Name string `json:"name"`

	// uid distinguishes the resource from others of the same name.
	//
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// configuration identifies the spec and the credentials with which all pods run.
	//
	// +optional
	Configuration string `json:"configuration,omitempty"`

	// phase is set while the resource is being deleted.
	//
	// +optional
	Phase AttachedPhase `json:"phase,omitempty"`

	// inUse says why the resource cannot be deleted yet.
	//
	// +optional
	InUse string `json:"inUse,omitempty"`

	// verification is what a Job has found out about the resource as it was last read.
	//
	// +optional
	Verification *Verification `json:"verification,omitempty"`
}

// Verification is what a Job has found out about an attached resource: before pods get it, and each
// hour from then on.
type Verification struct {
	// configuration identifies the spec and the credentials that were verified.
	//
	// +required
	Configuration string `json:"configuration"`

	// verifiedAt is when the Job last found that they work.
	//
	// +optional
	VerifiedAt *metav1.Time `json:"verifiedAt,omitempty"`

	// failure says why they do not work. Pods that have them keep them.
	//
	// +optional
	Failure string `json:"failure,omitempty"`

	// reference is what the service calls the resource, such as the ID of a domain.
	//
	// +optional
	Reference string `json:"reference,omitempty"`
}
