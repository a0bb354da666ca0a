package v1alpha1

// CatalogEntryStatus is an entry of the service catalog that the operator created.
type CatalogEntryStatus struct {
	// objectName is the name of the K-ORC object.
	//
	// +required
	// +kubebuilder:validation:MaxLength=253
	ObjectName string `json:"objectName"`

	// id is the entry's ID in Keystone, once it is known.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ID string `json:"id,omitempty"`
}

// BootstrapResourceStatus is the state of one bootstrap resource.
type BootstrapResourceStatus struct {
	// kind is the K-ORC kind of the resource.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// name is the resource's name in OpenStack.
	//
	// +required
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name"`

	// objectName is the name of the K-ORC object.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ObjectName string `json:"objectName,omitempty"`

	// ready reports whether the resource exists, as K-ORC last observed it.
	//
	// +required
	Ready bool `json:"ready"`

	// id is the resource's ID in OpenStack.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ID string `json:"id,omitempty"`
}
