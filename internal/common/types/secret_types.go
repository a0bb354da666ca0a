package types

// LabelAllowWrite, with the value AllowWrite, allows an operator to write the key that
// a resource refers to in a Secret that no operator created. A user who may only edit
// the resource cannot set it.
const (
	LabelAllowWrite = "forge.c5c3.io/allow-write"
	AllowWrite      = "true"
)

// SecretRefSpec points to one key of a Secret in the namespace of the resource
// that holds the reference.
type SecretRefSpec struct {
	// name is the name of the Secret. Example: "database-login".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`

	// key is the entry of the Secret's data to read. When it is not set, the default
	// that the referring field documents applies. Example: "password".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]*$`
	Key string `json:"key,omitempty"`
}

// KeyOr returns the referenced key, or def when the reference names none.
func (r SecretRefSpec) KeyOr(def string) string {
	if r.Key == "" {
		return def
	}
	return r.Key
}
