package v1alpha1

// Condition types that only a Keystone has.
const (
	// ConditionFernetKeysReady covers the keys that sign tokens and their rotation.
	ConditionFernetKeysReady = "FernetKeysReady"
	// ConditionCredentialKeysReady covers the keys that encrypt credentials and their rotation.
	ConditionCredentialKeysReady = "CredentialKeysReady"
	// ConditionKeystoneAPIReady reports whether the API answers, and whether the administrator can log in.
	ConditionKeystoneAPIReady = "KeystoneAPIReady"
	// ConditionBootstrapReady covers the administrator, the region and the catalog entry.
	ConditionBootstrapReady = "BootstrapReady"
	// ConditionTrustFlushReady covers the deletion of expired trusts.
	ConditionTrustFlushReady = "TrustFlushReady"
	// ConditionPasswordRotationReady covers the scheduled change of the administrator's password.
	ConditionPasswordRotationReady = "PasswordRotationReady"
	// ConditionIdentityBackendsReady names the identity backends in use. It does not affect Ready.
	ConditionIdentityBackendsReady = "IdentityBackendsReady"
)

// Reasons of conditions that only a Keystone has. A reason is stable, so alerts and
// scripts may rely on it; the condition's message gives the details and says what to do.
const (
	// ReasonWaitingForAdminCredentials: create the Secret of bootstrap.adminPasswordSecretRef with the key the message names.
	ReasonWaitingForAdminCredentials = "WaitingForAdminCredentials"

	// ReasonFernetKeysAvailable: nothing to do.
	ReasonFernetKeysAvailable = "FernetKeysAvailable"
	// ReasonFernetKeysRotated: nothing to do; a rotation has just been applied.
	ReasonFernetKeysRotated = "FernetKeysRotated"
	// ReasonCredentialKeysAvailable: nothing to do.
	ReasonCredentialKeysAvailable = "CredentialKeysAvailable"
	// ReasonCredentialKeysRotated: nothing to do; a rotation has just been applied.
	ReasonCredentialKeysRotated = "CredentialKeysRotated"
	// ReasonCredentialMigrateFailed: correct what the message names; no credential is lost, and the keys are not rotated again until then.
	ReasonCredentialMigrateFailed = "CredentialMigrateFailed"
	// ReasonRotationFailed: correct what the message names; the values in use stay, and
	// the next Job of the CronJob that succeeds clears the condition.
	ReasonRotationFailed = "RotationFailed"
	// ReasonLoginPending: wait; the administrator's login has not been verified yet.
	ReasonLoginPending = "LoginPending"
	// ReasonAdminPasswordRefused: correct the administrator's Secret, or make bootstrap
	// set its password again; the refused one is not retried soon.
	ReasonAdminPasswordRefused = "AdminPasswordRefused"
	// ReasonDatabaseUnavailable: look at the database; Keystone answers, but cannot use it.
	ReasonDatabaseUnavailable = "DatabaseUnavailable"
	// ReasonCacheUnavailable: look at the cache; Keystone answers, but cannot use it.
	ReasonCacheUnavailable = "CacheUnavailable"
	// ReasonTokenKeysUnusable: look at FernetKeysReady and at the Secret the message names.
	ReasonTokenKeysUnusable = "TokenKeysUnusable"
	// ReasonLoginTimeout: look at the database, at the cache and at the API pods' load.
	ReasonLoginTimeout = "LoginTimeout"
	// ReasonLoginFailed: look at the API pods' log for the status code the message names.
	ReasonLoginFailed = "LoginFailed"

	// ReasonBootstrapComplete: nothing to do.
	ReasonBootstrapComplete = "BootstrapComplete"
	// ReasonBootstrapInProgress: wait; the administrator and the catalog are being created.
	ReasonBootstrapInProgress = "BootstrapInProgress"
	// ReasonBootstrapFailed: correct what the message names; the Job runs again when its input changes.
	ReasonBootstrapFailed = "BootstrapFailed"

	// ReasonTrustFlushReady: nothing to do.
	ReasonTrustFlushReady = "TrustFlushReady"
	// ReasonTrustFlushFailed: correct what the message names; expired trusts stay in the database until a Job of the CronJob succeeds.
	ReasonTrustFlushFailed = "TrustFlushFailed"

	// ReasonRotationDisabled: nothing to do; bootstrap.passwordRotation is off.
	ReasonRotationDisabled = "RotationDisabled"
	// ReasonPasswordRotationConfigured: nothing to do.
	ReasonPasswordRotationConfigured = "PasswordRotationConfigured"
	// ReasonAdminPasswordRotated: wait; a new password is being delivered to its Secret and to Keystone.
	ReasonAdminPasswordRotated = "AdminPasswordRotated"

	// ReasonAdminPasswordRotationAnnotationInvalid: delete the staging Secret the message names.
	ReasonAdminPasswordRotationAnnotationInvalid = "AdminPasswordRotationAnnotationInvalid"
	// ReasonAdminPasswordRotationRejected: look at the rotation Job's log, delete the staging Secret and start the CronJob's Job again.
	ReasonAdminPasswordRotationRejected = "AdminPasswordRotationRejected"
	// ReasonAdminPasswordNotDelivered: repair what the message names; the previous password stays valid until then.
	ReasonAdminPasswordNotDelivered = "AdminPasswordNotDelivered"
	// ReasonAdminPasswordWriteNotAllowed: set the label the message names on the Secret, or have External Secrets deliver the password.
	ReasonAdminPasswordWriteNotAllowed = "AdminPasswordWriteNotAllowed"
)
