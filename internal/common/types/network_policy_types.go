package types

import networkingv1 "k8s.io/api/networking/v1"

// NetworkPolicySpec restricts the traffic of a service's pods. Traffic that the service
// itself needs (DNS, database, cache) is always allowed.
//
// +kubebuilder:validation:XValidation:rule="size(self.ingress) > 0",message="at least one ingress source must be specified"
type NetworkPolicySpec struct {
	// ingress lists the sources that may reach the API port; at least one is required.
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Ingress []NetworkPolicyIngressSource `json:"ingress"`

	// additionalEgress allows additional connections from the pods, for example to an LDAP
	// server.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	AdditionalEgress []networkingv1.NetworkPolicyEgressRule `json:"additionalEgress,omitempty"`
}

// NetworkPolicyIngressSource selects pods that may reach the API.
type NetworkPolicyIngressSource struct {
	// namespaceSelector holds the labels of the namespaces whose pods may
	// reach the API; {} selects all namespaces. Example:
	// {"kubernetes.io/metadata.name": "openstack"}.
	//
	// +required
	NamespaceSelector map[string]string `json:"namespaceSelector"`

	// podSelector holds the labels of the pods in those namespaces that may reach the API.
	// When it is not set, all pods of the namespaces may.
	//
	// +optional
	PodSelector map[string]string `json:"podSelector,omitempty"`
}
