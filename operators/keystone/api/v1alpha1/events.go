package v1alpha1

// Reasons of events that only a Keystone has. An event marks a transition, never a
// state; the state is in the conditions.
const (
	// EventFernetKeysGenerated: the first token keys were generated.
	EventFernetKeysGenerated = "FernetKeysGenerated"
	// EventCredentialKeysGenerated: the first credential keys were generated.
	EventCredentialKeysGenerated = "CredentialKeysGenerated"
	// EventFernetKeysRotated: a new token key became active.
	EventFernetKeysRotated = "FernetKeysRotated"
	// EventCredentialKeysRotated: a new credential key became active.
	EventCredentialKeysRotated = "CredentialKeysRotated"
	// EventAdminPasswordRotated: a new administrator password was accepted and is being delivered.
	EventAdminPasswordRotated = "AdminPasswordRotated"
	// EventRotationHeld: nothing to do; the new keys become active once nothing depends on the old ones.
	EventRotationHeld = "RotationHeld"
	// EventBootstrapComplete: the administrator, the region and the catalog entry exist.
	EventBootstrapComplete = "BootstrapComplete"
	// EventBootstrapFailed: correct what the BootstrapReady condition names.
	EventBootstrapFailed = "BootstrapFailed"
	// EventRotationAnnotationInvalid: delete the staging Secret that the message names; the operator creates an empty one.
	EventRotationAnnotationInvalid = "RotationAnnotationInvalid"
	// EventRotationRejected: look at the rotation Job's log; the keys in use stay.
	EventRotationRejected = "RotationRejected"
	// EventAdminPasswordRotationAnnotationInvalid: delete the staging Secret the message names.
	EventAdminPasswordRotationAnnotationInvalid = "AdminPasswordRotationAnnotationInvalid"
	// EventAdminPasswordRotationRejected: look at the rotation Job's log; the password in use stays.
	EventAdminPasswordRotationRejected = "AdminPasswordRotationRejected"
	// EventCredentialMigrateFailed: correct what the CredentialKeysReady condition names.
	EventCredentialMigrateFailed = "CredentialMigrateFailed"
	// EventRotationFailed: correct what the condition of the rotated keys or password names.
	EventRotationFailed = "RotationFailed"
	// EventTrustFlushFailed: correct what the TrustFlushReady condition names.
	EventTrustFlushFailed = "TrustFlushFailed"
	// EventAdminPasswordNotDelivered: repair what the PasswordRotationReady condition names.
	EventAdminPasswordNotDelivered = "AdminPasswordNotDelivered"
	// EventAdminPasswordWriteNotAllowed: set the label that the PasswordRotationReady condition names.
	EventAdminPasswordWriteNotAllowed = "AdminPasswordWriteNotAllowed"
	// EventCacheUnavailable: look at the cache that KeystoneAPIReady names; requests are answered without it.
	EventCacheUnavailable = "CacheUnavailable"
)
