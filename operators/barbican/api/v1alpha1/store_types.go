package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// BarbicanSecretStore is a place in which a Barbican stores secrets.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=barbicansecretstores,singular=barbicansecretstore,scope=Namespaced,categories=openstack
// +kubebuilder:printcolumn:name="Barbican",type=string,JSONPath=`.spec.barbicanRef.name`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type BarbicanSecretStore struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the BarbicanSecretStore.
	//
	// +required
	Spec BarbicanSecretStoreSpec `json:"spec"`

	// status is the state of the BarbicanSecretStore, as the operator last observed it.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status commonv1.AttachmentStatus `json:"status,omitzero"`
}

// BarbicanSecretStoreList is a list of BarbicanSecretStores.
//
// +kubebuilder:object:root=true
type BarbicanSecretStoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []BarbicanSecretStore `json:"items"`
}

// StoreVault is the type of a store with the API of HashiCorp Vault, which OpenBao has, too.
const StoreVault = "Vault"

// BarbicanSecretStoreSpec describes a BarbicanSecretStore.
//
// +kubebuilder:validation:XValidation:rule="self.barbicanRef == oldSelf.barbicanRef",fieldPath=".barbicanRef",message="the Barbican cannot be changed: secrets would lose their place"
type BarbicanSecretStoreSpec struct {
	// barbicanRef is the Barbican that stores secrets there. It cannot be changed.
	//
	// +required
	BarbicanRef commonv1.ServiceReference `json:"barbicanRef"`

	SecretStoreSpec `json:",inline"`
}

// SecretStoreSpec describes a place for secrets.
type SecretStoreSpec struct {
	// type is the type of the store: Vault, which stands for OpenBao, too.
	//
	// +required
	// +kubebuilder:validation:Enum=Vault
	Type string `json:"type"`

	// vault describes the store.
	//
	// +required
	Vault VaultSpec `json:"vault"`
}

// VaultSpec describes a store with the API of HashiCorp Vault.
//
// +kubebuilder:validation:XValidation:rule="self.kvMountpoint == oldSelf.kvMountpoint && has(self.__namespace__) == has(oldSelf.__namespace__) && (!has(self.__namespace__) || self.__namespace__ == oldSelf.__namespace__)",fieldPath=".kvMountpoint",message="the mount point and the namespace cannot be changed: secrets would lose their place"
type VaultSpec struct {
	// url is the address of the store. Example: "https://openbao.example.com:8200".
	//
	// +required
	// +kubebuilder:validation:MaxLength=260
	// +kubebuilder:validation:Pattern=`^https?://([-.a-zA-Z0-9]+|\[[.:0-9a-fA-F]+\])(:[0-9]+)?(/[-._a-zA-Z0-9]+)*/?$`
	URL string `json:"url"`

	// kvMountpoint is the path of the key/value engine, of its version 2. It cannot be changed.
	//
	// +required
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+(/[-._a-zA-Z0-9]+)*$`
	KVMountpoint string `json:"kvMountpoint"`

	// namespace is the namespace of the store in which the engine and the login are. By default it
	// is the store's root. It cannot be changed.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+(/[-._a-zA-Z0-9]+)*$`
	Namespace string `json:"namespace,omitempty"`

	// caBundle has the certificates, in PEM form, of the CAs that may sign the certificate of the
	// store. By default they are those that the image trusts.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	CABundle string `json:"caBundle,omitempty"`

	// credentialsSecretRef names the Secret with the credentials for the login AppRole, which is at
	// its default path in the store: "role-id" and "secret-id".
	//
	// +required
	CredentialsSecretRef commonv1.CredentialsReference `json:"credentialsSecretRef"`
}
