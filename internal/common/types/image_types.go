package types

// ImageSpec names a container image.
type ImageSpec struct {
	// repository is the image's name without a tag, with the registry's host
	// and port if it is not the default registry. Example:
	// "registry.example.com/openstack/nova".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^((([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(:[0-9]+)?/)?[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`
	Repository string `json:"repository"`

	// tag selects the image's version. For an OpenStack service it starts with
	// the release. Example: "2025.1".
	//
	// +required
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`
	Tag string `json:"tag"`
}

// ImageTagField is the field of a service's release, as the messages of conditions name
// it when it has to be set to something else.
const ImageTagField = "image.tag"

// Reference returns the image in the form a container runtime takes,
// repository:tag.
func (i ImageSpec) Reference() string {
	return i.Repository + ":" + i.Tag
}
