package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SecretAggregate collects the Secrets of the namespace's ControlPlane in one Secret. It
// reads no other Secrets.
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

	// spec determines which Secrets are collected, and into which Secret.
	//
	// +optional
	Spec SecretAggregateSpec `json:"spec,omitzero"`

	// status is the state of the SecretAggregate, as the operator last observed it.
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

// SecretAggregateSpec determines which Secrets are collected, and into which Secret.
// Without sources, all Secrets of the ControlPlane are collected.
type SecretAggregateSpec struct {
	// targetSecretName is the name of the Secret with the collected entries. The operator
	// creates it, and deletes it with the SecretAggregate. When it is not set, it is the
	// name of the SecretAggregate. Example: "credentials".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	TargetSecretName string `json:"targetSecretName,omitempty"`

	// sources are the Secrets to collect. When the list is empty, all Secrets of the
	// ControlPlane are collected.
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

// SecretAggregateSource is one Secret to collect.
type SecretAggregateSource struct {
	// credential is the Secret, named by what it holds: the clouds.yaml of
	// "adminApplicationCredential", the "adminPassword", or the user and the
	// password of "databaseCredentials".
	//
	// +required
	Credential AggregatedCredential `json:"credential"`

	// keys are the entries to copy: "clouds.yaml", the administrator's "password", and the
	// database's "username" and "password", or the keys that the ControlPlane sets instead.
	// When the list is empty, all of these are copied. Example: ["password"].
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[-._a-zA-Z0-9]+$`
	Keys []string `json:"keys,omitempty"`

	// keyPrefix is prepended to each key in the target Secret. When it is not set, it is
	// the credential and a dot, as in "databaseCredentials.password". Two entries with the
	// same resulting key are refused.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]*$`
	KeyPrefix *string `json:"keyPrefix,omitempty"`
}

// SecretAggregateStatus is the state of a SecretAggregate, as the operator last observed it.
type SecretAggregateStatus struct {
	// conditions report what works and what does not; Ready is True when the Secret holds
	// all requested entries.
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

// Prefix returns what is prepended to each key of the source.
func (s SecretAggregateSource) Prefix() string {
	if s.KeyPrefix == nil {
		return string(s.Credential) + "."
	}
	return *s.KeyPrefix
}
