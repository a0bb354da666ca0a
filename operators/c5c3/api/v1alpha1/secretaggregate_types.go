package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SecretAggregate collects the Secrets of the namespace's ControlPlane into
// one. It reads no other Secret.
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

	// spec says which Secrets are collected, and where.
	//
	// +optional
	Spec SecretAggregateSpec `json:"spec,omitzero"`

	// status is what the operator last saw.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
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

// SecretAggregateSpec says which Secrets are collected, and where. Without
// sources it collects all that the ControlPlane has.
type SecretAggregateSpec struct {
	// targetSecretName is the name of the Secret that holds the others. The
	// operator creates it, and deletes it with the SecretAggregate. When it is
	// not set, it is the name of the SecretAggregate. Example: "credentials".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	TargetSecretName string `json:"targetSecretName,omitempty"`

	// sources are the Secrets that are collected. When there are none, all
	// that the ControlPlane has are.
	//
	// +optional
	// +listType=map
	// +listMapKey=credential
	// +kubebuilder:validation:MaxItems=16
	Sources []SecretAggregateSource `json:"sources,omitempty"`
}

// AggregatedCredential names a Secret of a control plane by what it holds.
//
// +kubebuilder:validation:Enum=adminApplicationCredential;adminPassword;databaseCredentials
type AggregatedCredential string

const (
	// AggregatedAdminApplicationCredential is the clouds.yaml with the
	// administrator's application credential.
	AggregatedAdminApplicationCredential AggregatedCredential = "adminApplicationCredential"
	// AggregatedAdminPassword is the administrator's password.
	AggregatedAdminPassword AggregatedCredential = "adminPassword"
	// AggregatedDatabaseCredentials are the user and the password of Keystone's
	// database.
	AggregatedDatabaseCredentials AggregatedCredential = "databaseCredentials"
)

// SecretAggregateSource is one Secret that is collected.
type SecretAggregateSource struct {
	// credential is the Secret, named by what it holds: the clouds.yaml of
	// "adminApplicationCredential", the "adminPassword", or the user and the
	// password of "databaseCredentials".
	//
	// +required
	Credential AggregatedCredential `json:"credential"`

	// keys are the entries that are taken: "clouds.yaml", the administrator's
	// "password", and "username" and "password" of the database, or the keys that
	// the ControlPlane names instead. When there are none, all of these are.
	// Example: ["password"].
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[-._a-zA-Z0-9]+$`
	Keys []string `json:"keys,omitempty"`

	// keyPrefix stands in front of each key in the collecting Secret. When it
	// is not set, it is the credential and a dot, as in
	// "databaseCredentials.password". Two entries that end up with the same key
	// are refused.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]*$`
	KeyPrefix *string `json:"keyPrefix,omitempty"`
}

// SecretAggregateStatus is what the operator last saw.
type SecretAggregateStatus struct {
	// conditions tell what works and what does not; Ready is True when the
	// Secret holds everything the spec asks for.
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

	// targetSecretName is the Secret that the operator last wrote.
	//
	// +optional
	TargetSecretName string `json:"targetSecretName,omitempty"`
}

// TargetSecret is the name of the Secret that holds the others.
func (a *SecretAggregate) TargetSecret() string {
	if a.Spec.TargetSecretName == "" {
		return a.Name
	}
	return a.Spec.TargetSecretName
}

// Prefix is what stands in front of each key of the source.
func (s SecretAggregateSource) Prefix() string {
	if s.KeyPrefix == nil {
		return string(s.Credential) + "."
	}
	return *s.KeyPrefix
}
