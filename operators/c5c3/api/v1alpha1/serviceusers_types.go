package v1alpha1

// ServiceUserAuthentication is what the users of services log in to Keystone with.
//
// +kubebuilder:validation:Enum=Password;ApplicationCredential
type ServiceUserAuthentication string

const (
	// AuthenticationPassword is the password of the user.
	AuthenticationPassword ServiceUserAuthentication = "Password"
	// AuthenticationApplicationCredential is an application credential of the user.
	AuthenticationApplicationCredential ServiceUserAuthentication = "ApplicationCredential"
)

// ServiceUsersSpec determines how the services log in to Keystone. Each has a user of its own there.
type ServiceUsersSpec struct {
	// authentication is what the services log in with: the password of their user, or an
	// application credential, which expires and permits nothing but the validation of
	// tokens. A change replaces the users without a failed request. Glance keeps its
	// password in any case, because it acts on trusts of its users, which Keystone refuses
	// to an application credential. The default is "Password".
	//
	// +optional
	// +default="Password"
	Authentication ServiceUserAuthentication `json:"authentication,omitempty"`

	// credentialDays is how many days an application credential is valid. The operator
	// replaces it together with its user when a third of that time is left. The default is 30.
	//
	// +optional
	// +default=30
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3650
	CredentialDays int32 `json:"credentialDays,omitempty"`
}
