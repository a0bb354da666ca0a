package types

// IdentitySpec describes the Identity service, and the project and the domains of the service user.
type IdentitySpec struct {
	// authURL is the URL of the Identity API that the pods use. Example:
	// "http://keystone.openstack.svc:5000/v3".
	//
	// +required
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://[^\s/$]+(/[^\s$]*)?$`
	AuthURL string `json:"authURL"`

	// region is the catalog region of the Identity service. When it is not set, any region
	// matches. Example: "RegionOne".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[^\s$]*$`
	Region string `json:"region,omitempty"`

	// project is the name of the project in which the service user has its role. The
	// default is "service".
	//
	// +optional
	// +default="service"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[^\s$]*$`
	Project string `json:"project,omitempty"`

	// projectDomain is the name of the domain of the project. The default is
	// "Default".
	//
	// +optional
	// +default="Default"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[^\s$]*$`
	ProjectDomain string `json:"projectDomain,omitempty"`

	// userDomain is the name of the domain of the service user. The default is
	// "Default".
	//
	// +optional
	// +default="Default"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[^\s$]*$`
	UserDomain string `json:"userDomain,omitempty"`
}
