package v1alpha1

import (
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// LDAPScope is how deep Keystone searches below a tree.
//
// +kubebuilder:validation:Enum=one;sub
type LDAPScope string

const (
	// LDAPScopeOne finds entries directly below a tree.
	LDAPScopeOne LDAPScope = "one"
	// LDAPScopeSub finds all entries below a tree.
	LDAPScopeSub LDAPScope = "sub"
)

// LDAPSpec describes a directory. Keystone only reads it.
//
// +kubebuilder:validation:XValidation:rule="self.urls.all(u, u.startsWith('ldaps://')) || self.urls.all(u, u.startsWith('ldap://'))",fieldPath=".urls",message="the URLs must all begin with ldaps://, or all with ldap://"
// +kubebuilder:validation:XValidation:rule="has(self.tls) ? (has(self.tls.startTLS) && self.tls.startTLS) != self.urls.exists(u, u.startsWith('ldaps://')) : !self.urls.exists(u, u.startsWith('ldaps://'))",fieldPath=".tls",message="ldaps:// needs tls without startTLS, and ldap:// with tls needs startTLS"
type LDAPSpec struct {
	// urls are the servers of the directory. Keystone uses the first one that answers. Example:
	// ["ldaps://ldap.example.com"].
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=260
	// +kubebuilder:validation:items:Pattern=`^ldaps?://[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?$`
	URLs []string `json:"urls"`

	// tls describes how connections are encrypted. Without it passwords are readable on the network.
	//
	// +optional
	TLS *LDAPTLSSpec `json:"tls,omitempty"`

	// bindCredentialsSecretRef names the Secret with the account that reads the directory: its
	// distinguished name under "username", its password under "password".
	//
	// +required
	BindCredentialsSecretRef commonv1.CredentialsReference `json:"bindCredentialsSecretRef"`

	// scope says how deep Keystone searches: "one" stands for entries directly below a tree,
	// "sub" for all entries.
	//
	// +optional
	// +default="sub"
	Scope LDAPScope `json:"scope,omitempty"`

	// users says which entries are users.
	//
	// +required
	Users LDAPUsersSpec `json:"users"`

	// groups says which entries are groups. Without it the domain has no groups.
	//
	// +optional
	Groups *LDAPGroupsSpec `json:"groups,omitempty"`

	// pageSize is the number of entries that Keystone asks for at a time; 0 turns paging off. A
	// directory that limits the size of an answer needs it.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	PageSize int32 `json:"pageSize,omitempty"`

	// timeoutSeconds is how long Keystone waits for a connection, in seconds.
	//
	// +optional
	// +default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`

	// pool sets how many connections each process of Keystone keeps open.
	//
	// +optional
	// +default={}
	Pool *LDAPPoolSpec `json:"pool,omitempty"`

	// chaseReferrals makes Keystone follow referrals to other directories. The default is false.
	//
	// +optional
	ChaseReferrals bool `json:"chaseReferrals,omitempty"`
}

// LDAPTLSSpec describes how connections to a directory are encrypted.
type LDAPTLSSpec struct {
	// startTLS encrypts connections to ldap:// URLs.
	//
	// +optional
	StartTLS bool `json:"startTLS,omitempty"`

	// caBundleSecretRef names the Secret with the certificates of the CAs that may sign the
	// directory's certificate. The key defaults to "ca.crt".
	//
	// +required
	CABundleSecretRef commonv1.SecretRefSpec `json:"caBundleSecretRef"`
}

// LDAPUsersSpec says which entries of a directory are users.
type LDAPUsersSpec struct {
	// tree is the distinguished name of the entry below which the users are. Example:
	// "ou=people,dc=example,dc=com".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Tree string `json:"tree"`

	// filter selects some of the users. Example: "(department=cloud)".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^\(.*\)$`
	Filter string `json:"filter,omitempty"`

	// objectClass is the class of users.
	//
	// +optional
	// +default="inetOrgPerson"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-A-Za-z0-9]*$`
	ObjectClass string `json:"objectClass,omitempty"`

	// idAttribute is the attribute that identifies a user for good. It must have one value.
	//
	// +optional
	// +default="uid"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-A-Za-z0-9]*$`
	IDAttribute string `json:"idAttribute,omitempty"`

	// nameAttribute is the attribute with the name by which a user logs in.
	//
	// +optional
	// +default="uid"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-A-Za-z0-9]*$`
	NameAttribute string `json:"nameAttribute,omitempty"`

	// mailAttribute is the attribute with the address of a user.
	//
	// +optional
	// +default="mail"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-A-Za-z0-9]*$`
	MailAttribute string `json:"mailAttribute,omitempty"`

	// descriptionAttribute is the attribute with the description of a user.
	//
	// +optional
	// +default="description"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-A-Za-z0-9]*$`
	DescriptionAttribute string `json:"descriptionAttribute,omitempty"`

	// enabled says which users may log in. Without it all may.
	//
	// +optional
	Enabled *LDAPEnabledSpec `json:"enabled,omitempty"`
}

// LDAPEnabledSpec says which users of a directory may log in: those in a group, or those with a
// value of an attribute.
//
// +kubebuilder:validation:XValidation:rule="has(self.group) != has(self.attribute)",message="name a group or an attribute"
// +kubebuilder:validation:XValidation:rule="has(self.attribute) || (!has(self.mask) || self.mask == 0) && (!has(self.invert) || !self.invert)",message="mask and invert need an attribute"
// +kubebuilder:validation:XValidation:rule="!has(self.mask) || self.mask == 0 || !has(self.invert) || !self.invert",message="mask and invert exclude each other"
type LDAPEnabledSpec struct {
	// group is the distinguished name of the group whose members may log in. It is for directories
	// whose users have no attribute about it.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Group string `json:"group,omitempty"`

	// attribute is the attribute that says whether a user may log in. A user without it may.
	// Example: "userAccountControl".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-A-Za-z0-9]*$`
	Attribute string `json:"attribute,omitempty"`

	// mask is the bit of the attribute that is set for a user who may not log in. That of
	// userAccountControl is 2.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Mask int32 `json:"mask,omitempty"`

	// invert is for an attribute that is true for a user who may not log in.
	//
	// +optional
	Invert bool `json:"invert,omitempty"`
}

// LDAPGroupsSpec says which entries of a directory are groups.
type LDAPGroupsSpec struct {
	// tree is the distinguished name of the entry below which the groups are. Example:
	// "ou=groups,dc=example,dc=com".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Tree string `json:"tree"`

	// filter selects some of the groups. Example: "(businessCategory=cloud)".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^\(.*\)$`
	Filter string `json:"filter,omitempty"`

	// objectClass is the class of groups.
	//
	// +optional
	// +default="groupOfNames"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-A-Za-z0-9]*$`
	ObjectClass string `json:"objectClass,omitempty"`

	// idAttribute is the attribute that identifies a group for good. It must have one value.
	//
	// +optional
	// +default="cn"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-A-Za-z0-9]*$`
	IDAttribute string `json:"idAttribute,omitempty"`

	// nameAttribute is the attribute with the name of a group.
	//
	// +optional
	// +default="cn"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-A-Za-z0-9]*$`
	NameAttribute string `json:"nameAttribute,omitempty"`

	// memberAttribute is the attribute with the members of a group.
	//
	// +optional
	// +default="member"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-A-Za-z0-9]*$`
	MemberAttribute string `json:"memberAttribute,omitempty"`

	// descriptionAttribute is the attribute with the description of a group.
	//
	// +optional
	// +default="description"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-A-Za-z0-9]*$`
	DescriptionAttribute string `json:"descriptionAttribute,omitempty"`

	// membersAreIDs says that memberAttribute has the IDs of users, as in the class posixGroup,
	// and not their distinguished names.
	//
	// +optional
	MembersAreIDs bool `json:"membersAreIDs,omitempty"`

	// nested makes members of groups inside a group its members. It is for Active Directory.
	//
	// +optional
	Nested bool `json:"nested,omitempty"`
}

// LDAPPoolSpec sets how many connections each process of Keystone keeps open.
type LDAPPoolSpec struct {
	// size is the number of connections with which Keystone reads.
	//
	// +optional
	// +default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Size int32 `json:"size,omitempty"`

	// loginSize is the number of connections with which Keystone verifies the passwords of users.
	//
	// +optional
	// +default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	LoginSize int32 `json:"loginSize,omitempty"`

	// lifetimeSeconds is how long a connection is used, in seconds.
	//
	// +optional
	// +default=600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	LifetimeSeconds int32 `json:"lifetimeSeconds,omitempty"`
}
