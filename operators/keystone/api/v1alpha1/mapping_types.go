package v1alpha1

// MappingRule is a rule of Keystone that maps users of an identity provider. The users, and the groups
// that it names, are those of the backend's domain.
type MappingRule struct {
	// local says what somebody is for whom all of remote applies. A text can refer to the claims of
	// remote without anyOneOf and notAnyOf: {0} is the first one of them.
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Local []LocalMapping `json:"local"`

	// remote are the claims that somebody must have.
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Remote []RemoteMapping `json:"remote"`
}

// LocalMapping is a user, a group, or a list of groups.
//
// +kubebuilder:validation:XValidation:rule="[has(self.user), has(self.group), has(self.groups)].exists_one(x, x)",message="set one of user, group and groups"
type LocalMapping struct {
	// user is the name of the user, and maybe the address.
	//
	// +optional
	User *MappedUser `json:"user,omitempty"`

	// group is the name of a group that the user is in. Example: "cloud-users".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([^{}\s]|\{[0-9]{1,2}\})([^{}]|\{[0-9]{1,2}\})*$`
	Group string `json:"group,omitempty"`

	// groups refers to a claim with the names of groups that the user is in. Names that the domain
	// does not have are ignored. Example: "{1}".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([^{}\s]|\{[0-9]{1,2}\})([^{}]|\{[0-9]{1,2}\})*$`
	Groups string `json:"groups,omitempty"`
}

// MappedUser is the name and the address of a user.
type MappedUser struct {
	// name is the name of the user. Example: "{0}".
	//
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^([^{}\s]|\{[0-9]{1,2}\})([^{}]|\{[0-9]{1,2}\})*$`
	Name string `json:"name"`

	// email is the address of the user. Example: "{1}".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^([^{}\s]|\{[0-9]{1,2}\})([^{}]|\{[0-9]{1,2}\})*$`
	Email string `json:"email,omitempty"`
}

// RemoteMapping is a claim that somebody must have. At most one of its lists is set.
//
// +kubebuilder:validation:XValidation:rule="[has(self.anyOneOf), has(self.notAnyOf), has(self.whitelist), has(self.blacklist)].filter(x, x).size() <= 1",message="anyOneOf, notAnyOf, whitelist and blacklist exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.regex) || !self.regex || has(self.anyOneOf) || has(self.notAnyOf) || has(self.whitelist) || has(self.blacklist)",fieldPath=".regex",message="regex needs a list"
type RemoteMapping struct {
	// claim is the name of the claim, which Keystone calls the type. Example: "preferred_username".
	//
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_][-_A-Za-z0-9]*$`
	Claim string `json:"claim"`

	// anyOneOf are values of which the claim must have at least one.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=255
	AnyOneOf []string `json:"anyOneOf,omitempty"`

	// notAnyOf are values of which the claim must have none.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=255
	NotAnyOf []string `json:"notAnyOf,omitempty"`

	// whitelist are the values of the claim that local gets.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=255
	Whitelist []string `json:"whitelist,omitempty"`

	// blacklist are the values of the claim that local does not get.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=255
	Blacklist []string `json:"blacklist,omitempty"`

	// regex says that the values in the list are regular expressions.
	//
	// +optional
	Regex bool `json:"regex,omitempty"`
}

// IdentityGroup is a group of a domain.
type IdentityGroup struct {
	// name is the name of the group. Example: "cloud-users".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name"`

	// description is the description of a group that the operator creates.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Description string `json:"description,omitempty"`

	// roleAssignments are the roles of the users in the group. Roles that others assign stay.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	RoleAssignments []RoleAssignment `json:"roleAssignments,omitempty"`
}

// RoleAssignment is a role in a project, or in a domain.
type RoleAssignment struct {
	// role is the name of the role. Example: "member".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Role string `json:"role"`

	// project is the name of the project, which must exist. Without it the role is in the domain.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Project string `json:"project,omitempty"`

	// domain is the name of the domain, or of the one with the project. The default is that of the backend.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Domain string `json:"domain,omitempty"`
}
