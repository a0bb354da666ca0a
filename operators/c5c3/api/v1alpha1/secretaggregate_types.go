package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SecretAggregate collects the Secrets of a control plane into one.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=secretaggregates,singular=secretaggregate,scope=Namespaced,categories=openstack
type SecretAggregate struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says where the Secrets are collected.
	//
	// +optional
	Spec SecretAggregateSpec `json:"spec,omitzero"`

	// status is what the operator last saw.
	//
	// +optional
	Status SecretAggregateStatus `json:"status,omitzero"`
}

// SecretAggregateList is a list of SecretAggregates.
//
// +kubebuilder:object:root=true
type SecretAggregateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []SecretAggregate `json:"items"`
}

// SecretAggregateSpec says where Secrets are collected.
type SecretAggregateSpec struct {
	// targetSecretName is the name of the Secret that holds the others.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	TargetSecretName string `json:"targetSecretName,omitempty"`
}

// SecretAggregateStatus is what the operator last saw.
type SecretAggregateStatus struct {
	// conditions tell what works and what does not.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
