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

	// digest pins the image's content. The tag still says which release it is, and no pod
	// of the service runs the image before a Job has found that release in it. Set it anew
	// with every tag. Example: "sha256:" and 64 hexadecimal digits.
	//
	// +optional
	// +kubebuilder:validation:Pattern=`^sha256:[a-f0-9]{64}$`
	Digest string `json:"digest,omitempty"`
}

// ImageTagField is the field of a service's release, as the messages of conditions name
// it when it has to be set to something else.
const ImageTagField = "image.tag"

// Reference returns the image in the form a container runtime takes, repository:tag or
// repository:tag@digest, of which it pulls the digest.
func (i ImageSpec) Reference() string {
	if i.Digest == "" {
		return i.Repository + ":" + i.Tag
	}
	return i.Repository + ":" + i.Tag + "@" + i.Digest
}
