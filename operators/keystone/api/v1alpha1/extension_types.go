package v1alpha1

// PluginSpec configures a plugin or driver that the service's image contains.
type PluginSpec struct {
	// name identifies the plugin to people; it has no effect. Example:
	// "keystone-keycloak-backend".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// configSection is the section of the service's configuration file that the plugin
	// reads. Two plugins cannot share a section. Example: "keycloak".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ConfigSection string `json:"configSection"`

	// config holds the options of that section. Example:
	// {"server_url": "https://keycloak.example.com"}.
	//
	// +optional
	Config map[string]string `json:"config,omitempty"`
}

// PipelinePosition is the place of a middleware in the service's request
// pipeline.
//
// +kubebuilder:validation:Enum=before;after
type PipelinePosition string

const (
	// PipelineBefore puts a middleware in front of the service's own filters,
	// so that it sees the request as the client sent it.
	PipelineBefore PipelinePosition = "before"
	// PipelineAfter puts a middleware behind the service's own filters, next
	// to the application.
	PipelineAfter PipelinePosition = "after"
)

// MiddlewareSpec adds a paste.deploy filter to the service's request pipeline.
type MiddlewareSpec struct {
	// name is the filter's name in the pipeline. Each middleware needs its
	// own name. Example: "audit".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`
	Name string `json:"name"`

	// filterFactory is the Python callable that creates the filter, as
	// module:name. Example: "keystonemiddleware.audit:filter_factory".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`
	FilterFactory string `json:"filterFactory"`

	// position places the filter "before" the service's own filters or "after"
	// them. Middlewares with the same position keep the order of this list.
	//
	// +required
	Position PipelinePosition `json:"position"`

	// config holds the filter's options. Example:
	// {"audit_map_file": "/etc/keystone/keystone.conf.d/audit_map.ini"}.
	//
	// +optional
	Config map[string]string `json:"config,omitempty"`

	// files holds the files that the filter reads, by the name that they get in
	// /etc/keystone/keystone.conf.d. Each name may occur once. Names of the
	// operator's own files are refused, and those that end in ".conf", which the
	// service reads as its configuration. They are in a ConfigMap, and not for
	// secrets. Example: {"audit_map.ini": "[path_keywords]\nusers = user"}.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Files map[string]string `json:"files,omitempty"`
}
