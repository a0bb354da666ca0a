package v1alpha1

import (
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// FernetSpec sets how the keys that sign Fernet tokens are rotated.
//
// A token stays valid only while the key that signed it is active: maxActiveKeys should
// be at least the lifetime of a token divided by the time between two rotations,
// rounded up, plus 2.
type FernetSpec struct {
	// rotationSchedule is when the keys are rotated, in cron format with five
	// fields. The default is "0 0 * * 0", Sundays at midnight.
	//
	// +optional
	// +default="0 0 * * 0"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	RotationSchedule string `json:"rotationSchedule,omitempty"`

	// maxActiveKeys is the number of keys to keep. A token stays valid only while its key
	// is among them, so more frequent rotation needs more keys. The default is 3.
	//
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=3
	// +kubebuilder:validation:Maximum=100
	MaxActiveKeys int32 `json:"maxActiveKeys,omitempty"`

	// suspend pauses the rotation; the keys in use stay. The default is false.
	//
	// +optional
	// +default=false
	Suspend bool `json:"suspend,omitempty"`
}

// CredentialKeysSpec sets how the keys that encrypt credentials in the
// database are rotated.
type CredentialKeysSpec struct {
	// rotationSchedule is when the keys are rotated, in cron format with five
	// fields. The default is "0 0 * * 0", Sundays at midnight.
	//
	// +optional
	// +default="0 0 * * 0"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	RotationSchedule string `json:"rotationSchedule,omitempty"`

	// maxActiveKeys is the number of keys to keep. Stored credentials are re-encrypted at
	// each rotation. The default is 3.
	//
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=3
	// +kubebuilder:validation:Maximum=100
	MaxActiveKeys int32 `json:"maxActiveKeys,omitempty"`

	// suspend pauses the rotation; the keys in use stay. The default is false.
	//
	// +optional
	// +default=false
	Suspend bool `json:"suspend,omitempty"`
}

// TrustFlushSpec sets when expired trusts are deleted from the database.
type TrustFlushSpec struct {
	// schedule is when expired trusts are deleted, in cron format with five
	// fields. The default is "0 * * * *", every hour.
	//
	// +optional
	// +default="0 * * * *"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Schedule string `json:"schedule,omitempty"`

	// suspend pauses the deletion. The default is false.
	//
	// +optional
	// +default=false
	Suspend bool `json:"suspend,omitempty"`

	// args are additional arguments for "keystone-manage trust_flush".
	// Example: ["--date", "01-01-2026"].
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Args []string `json:"args,omitempty"`
}

// BootstrapSpec describes what "keystone-manage bootstrap" creates in an empty
// Keystone: the administrator, the region and Keystone's own catalog entry.
type BootstrapSpec struct {
	// adminUser is the name of the administrator. It cannot be changed later.
	// The default is "admin".
	//
	// +optional
	// +default="admin"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="bootstrap.adminUser is immutable"
	AdminUser string `json:"adminUser,omitempty"`

	// adminPasswordSecretRef names the Secret with the administrator's
	// password, under key (default "password").
	//
	// +required
	AdminPasswordSecretRef commonv1.SecretRefSpec `json:"adminPasswordSecretRef"`

	// region is the OpenStack region in which Keystone registers itself. It cannot be
	// changed later. The default is "RegionOne".
	//
	// +optional
	// +default="RegionOne"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="bootstrap.region is immutable"
	Region string `json:"region,omitempty"`

	// publicEndpoint is Keystone's URL for clients outside the cluster. When it is not set,
	// the catalog contains the URL inside the cluster. Example:
	// "https://keystone.example.com/v3".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://\S+$`
	PublicEndpoint string `json:"publicEndpoint,omitempty"`

	// passwordRotation replaces the administrator's password on a schedule.
	// When it is not set, the password changes only when its Secret does. If
	// no ExternalSecret writes that Secret, the operator writes the new
	// password into it only if it has the label forge.c5c3.io/allow-write:
	// "true".
	//
	// +optional
	PasswordRotation *PasswordRotationSpec `json:"passwordRotation,omitempty"`
}

// PasswordRotationSpec sets how the administrator's password is replaced.
type PasswordRotationSpec struct {
	// enabled turns the rotation on. The default is false.
	//
	// +optional
	// +default=false
	Enabled bool `json:"enabled,omitempty"`

	// schedule is when the password is rotated, in cron format with five
	// fields. The default is "0 0 1 * *", the first of each month at midnight.
	//
	// +optional
	// +default="0 0 1 * *"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Schedule string `json:"schedule,omitempty"`

	// suspend pauses the rotation; the password in use stays. The default is
	// false.
	//
	// +optional
	// +default=false
	Suspend bool `json:"suspend,omitempty"`

	// passwordLength is the number of random bytes in a new password. The password itself
	// is a third longer, because the bytes are encoded as text. The default is 32.
	//
	// +optional
	// +default=32
	// +kubebuilder:validation:Minimum=24
	// +kubebuilder:validation:Maximum=1024
	PasswordLength int32 `json:"passwordLength,omitempty"`
}

// FederationSpec configures federated identity.
type FederationSpec struct {
	// enabled allows users of an identity provider to log in with the methods mapped,
	// openid and saml2. It requires a proxy in front of Keystone that authenticates these
	// users. Clients must not be able to bypass the proxy.
	//
	// +required
	Enabled bool `json:"enabled"`
}
