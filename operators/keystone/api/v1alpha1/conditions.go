package v1alpha1

import "github.com/c5c3/forge/internal/common/vocabulary"

// Condition types of a Keystone. Ready summarises all others except the two of kstatus and
// BackupHealthy, LoggingHealthy and ReleaseConsistent, which are informational.
const (
	ConditionSecretsReady     = vocabulary.ConditionSecretsReady
	ConditionDatabaseTLSReady = vocabulary.ConditionDatabaseTLSReady
	// ConditionFernetKeysReady covers the keys that sign tokens and their rotation.
	ConditionFernetKeysReady = "FernetKeysReady"
	// ConditionCredentialKeysReady covers the keys that encrypt credentials and their rotation.
	ConditionCredentialKeysReady = "CredentialKeysReady"
	ConditionNetworkPolicyReady  = vocabulary.ConditionNetworkPolicyReady
	ConditionDatabaseReady       = vocabulary.ConditionDatabaseReady
	ConditionPolicyValidReady    = vocabulary.ConditionPolicyValidReady
	ConditionDeploymentReady     = vocabulary.ConditionDeploymentReady
	ConditionHTTPRouteReady      = vocabulary.ConditionHTTPRouteReady
	// ConditionKeystoneAPIReady reports whether the API answers, and whether the administrator can log in.
	ConditionKeystoneAPIReady = "KeystoneAPIReady"
	ConditionHPAReady         = vocabulary.ConditionHPAReady
	// ConditionBootstrapReady covers the administrator, the region and the catalog entry.
	ConditionBootstrapReady = "BootstrapReady"
	// ConditionTrustFlushReady covers the deletion of expired trusts.
	ConditionTrustFlushReady = "TrustFlushReady"
	// ConditionPasswordRotationReady covers the scheduled change of the administrator's password.
	ConditionPasswordRotationReady = "PasswordRotationReady"
	// ConditionBackupHealthy reports whether the secret store has a copy of the keys; it is informational.
	ConditionBackupHealthy  = "BackupHealthy"
	ConditionLoggingHealthy = vocabulary.ConditionLoggingHealthy
)

// Reasons of conditions. A reason is stable, so alerts and scripts may rely on
// it; the condition's message gives the details and says what to do.
const (
	ReasonDatabaseInUse = vocabulary.ReasonDatabaseInUse

	ReasonSecretsAvailable        = vocabulary.ReasonSecretsAvailable
	ReasonSecretStoreNotReady     = vocabulary.ReasonSecretStoreNotReady
	ReasonWaitingForDBCredentials = vocabulary.ReasonWaitingForDBCredentials
	// ReasonWaitingForAdminCredentials: create the Secret of bootstrap.adminPasswordSecretRef with the key the message names.
	ReasonWaitingForAdminCredentials = "WaitingForAdminCredentials"
	ReasonWaitingForExtraConfig      = vocabulary.ReasonWaitingForExtraConfig
	ReasonSecretInvalid              = vocabulary.ReasonSecretInvalid
	ReasonConfigError                = vocabulary.ReasonConfigError
	ReasonConfigCheckInProgress      = vocabulary.ReasonConfigCheckInProgress
	// ReasonOpenBaoFinalizerBlocked: wait, or repair the secret backend; deletion continues when the backups are gone, or after 10 minutes.
	ReasonOpenBaoFinalizerBlocked = "OpenBaoFinalizerBlocked"
	// ReasonWaitingForESOAdoption: wait, or repair External Secrets; deletion continues without it after 10 minutes.
	ReasonWaitingForESOAdoption = "WaitingForESOAdoption"

	ReasonNotRequired        = vocabulary.ReasonNotRequired
	ReasonExternallyManaged  = vocabulary.ReasonExternallyManaged
	ReasonCertificateIssued  = vocabulary.ReasonCertificateIssued
	ReasonCertificatePending = vocabulary.ReasonCertificatePending

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
	// ReasonGeneratingKeys: wait; the first keys are being generated.
	ReasonGeneratingKeys = "GeneratingKeys"
	// ReasonKeysMissing: restore the key Secret the message names from its backup, because new keys would make existing data unreadable.
	ReasonKeysMissing = "KeysMissing"

	ReasonNetworkPolicyReady       = vocabulary.ReasonNetworkPolicyReady
	ReasonNetworkPolicyNotRequired = vocabulary.ReasonNetworkPolicyNotRequired

	ReasonDatabaseSynced         = vocabulary.ReasonDatabaseSynced
	ReasonMariaDBNotInstalled    = vocabulary.ReasonMariaDBNotInstalled
	ReasonClusterNotReady        = vocabulary.ReasonClusterNotReady
	ReasonWaitingForDatabase     = vocabulary.ReasonWaitingForDatabase
	ReasonDBSyncInProgress       = vocabulary.ReasonDBSyncInProgress
	ReasonDBSyncFailed           = vocabulary.ReasonDBSyncFailed
	ReasonSchemaCheckInProgress  = vocabulary.ReasonSchemaCheckInProgress
	ReasonSchemaDriftDetected    = vocabulary.ReasonSchemaDriftDetected
	ReasonDatabaseNewerThanImage = vocabulary.ReasonDatabaseNewerThanImage
	ReasonVersionParseError      = vocabulary.ReasonVersionParseError
	ReasonDowngradeNotSupported  = vocabulary.ReasonDowngradeNotSupported
	ReasonUpgradePathInvalid     = vocabulary.ReasonUpgradePathInvalid
	ReasonUpgradeTargetChanged   = vocabulary.ReasonUpgradeTargetChanged
	ReasonExpandInProgress       = vocabulary.ReasonExpandInProgress
	ReasonExpandFailed           = vocabulary.ReasonExpandFailed
	ReasonMigrateInProgress      = vocabulary.ReasonMigrateInProgress
	ReasonMigrateFailed          = vocabulary.ReasonMigrateFailed
	ReasonUpgradeRollingUpdate   = vocabulary.ReasonUpgradeRollingUpdate
	ReasonContractInProgress     = vocabulary.ReasonContractInProgress
	ReasonContractFailed         = vocabulary.ReasonContractFailed
	ReasonUpgradeStopping        = vocabulary.ReasonUpgradeStopping
	ReasonUpgradeHeld            = vocabulary.ReasonUpgradeHeld
	ReasonUpgradeAborting        = vocabulary.ReasonUpgradeAborting
	ReasonUpgradeAbortRefused    = vocabulary.ReasonUpgradeAbortRefused

	ReasonPolicyValidationNotRequired = vocabulary.ReasonPolicyValidationNotRequired
	ReasonPolicyValidationPassed      = vocabulary.ReasonPolicyValidationPassed
	ReasonPolicyValidationInProgress  = vocabulary.ReasonPolicyValidationInProgress
	ReasonPolicyValidationFailed      = vocabulary.ReasonPolicyValidationFailed

	ReasonDeploymentReady      = vocabulary.ReasonDeploymentReady
	ReasonWaitingForDeployment = vocabulary.ReasonWaitingForDeployment
	ReasonDeploymentStopped    = vocabulary.ReasonDeploymentStopped
	ReasonImagePullFailed      = vocabulary.ReasonImagePullFailed

	ReasonAPIHealthy         = vocabulary.ReasonAPIHealthy
	ReasonProbePending       = vocabulary.ReasonProbePending
	ReasonEndpointNotReady   = vocabulary.ReasonEndpointNotReady
	ReasonAPIUnhealthy       = vocabulary.ReasonAPIUnhealthy
	ReasonHealthCheckTimeout = vocabulary.ReasonHealthCheckTimeout
	ReasonConnectionFailed   = vocabulary.ReasonConnectionFailed
	ReasonHealthCheckFailed  = vocabulary.ReasonHealthCheckFailed
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

	ReasonHPAReady       = vocabulary.ReasonHPAReady
	ReasonHPANotRequired = vocabulary.ReasonHPANotRequired
	ReasonHPANotScaling  = vocabulary.ReasonHPANotScaling

	ReasonHTTPRouteAccepted      = vocabulary.ReasonHTTPRouteAccepted
	ReasonHTTPRouteNotRequired   = vocabulary.ReasonHTTPRouteNotRequired
	ReasonHTTPRouteNotAccepted   = vocabulary.ReasonHTTPRouteNotAccepted
	ReasonGatewayAPINotInstalled = vocabulary.ReasonGatewayAPINotInstalled

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

	// ReasonKeysBackedUp: nothing to do.
	ReasonKeysBackedUp = "KeysBackedUp"
	// ReasonBackupNotConfigured: install External Secrets, or keep copies of the key Secrets yourself.
	ReasonBackupNotConfigured = "BackupNotConfigured"
	// ReasonBackupPending: wait; External Secrets has not stored the keys yet.
	ReasonBackupPending = "BackupPending"
	// ReasonBackupFailing: repair what the message names; the keys exist only in the cluster until then.
	ReasonBackupFailing = "BackupFailing"

	ReasonStderrEnabled  = vocabulary.ReasonStderrEnabled
	ReasonStderrDisabled = vocabulary.ReasonStderrDisabled
)
