package v1alpha1

// Reasons of events on a Keystone. An event marks a transition, never a state;
// the state is in the conditions.
const (
	// EventFernetKeysGenerated: the first token keys were made.
	EventFernetKeysGenerated = "FernetKeysGenerated"
	// EventCredentialKeysGenerated: the first credential keys were made.
	EventCredentialKeysGenerated = "CredentialKeysGenerated"
	// EventFernetKeysRotated: a new token key took over.
	EventFernetKeysRotated = "FernetKeysRotated"
	// EventCredentialKeysRotated: a new credential key took over.
	EventCredentialKeysRotated = "CredentialKeysRotated"
	// EventAdminPasswordRotated: a new administrator password took over.
	EventAdminPasswordRotated = "AdminPasswordRotated"
	// EventRotationHeld: nothing to do; the new keys become active once nothing depends on the old ones.
	EventRotationHeld = "RotationHeld"
	// EventDatabaseSynced: the schema was brought to the image's revision.
	EventDatabaseSynced = "DatabaseSynced"
	// EventBootstrapComplete: the administrator, the region and the catalog entry exist.
	EventBootstrapComplete = "BootstrapComplete"

	// EventUpgradeInitiated: an upgrade to the next release began.
	EventUpgradeInitiated = "UpgradeInitiated"
	// EventExpandComplete: tables and columns of the new release were added.
	EventExpandComplete = "ExpandComplete"
	// EventMigrateComplete: data was moved to the expanded schema.
	EventMigrateComplete = "MigrateComplete"
	// EventDeploymentRolloutComplete: no pod of the old release is left.
	EventDeploymentRolloutComplete = "DeploymentRolloutComplete"
	// EventUpgradeComplete: the new release is installed.
	EventUpgradeComplete = "UpgradeComplete"
	// EventUpgradeAborted: the upgrade was taken back.
	EventUpgradeAborted = "UpgradeAborted"

	// EventFinalizingDatabase: the database, its user and its grant are being deleted.
	EventFinalizingDatabase = "FinalizingDatabase"
	// EventDatabaseFinalized: the database was let go.
	EventDatabaseFinalized = "DatabaseFinalized"
	// EventFinalizingOpenBaoSecrets: the key backups are being deleted.
	EventFinalizingOpenBaoSecrets = "FinalizingOpenBaoSecrets"
	// EventOpenBaoSecretsFinalized: the key backups are gone.
	EventOpenBaoSecretsFinalized = "OpenBaoSecretsFinalized"
	// EventKeysKept: the keys and their copies stay with the database.
	EventKeysKept = "KeysKept"

	// EventDBSyncFailed: correct what the DatabaseReady condition names.
	EventDBSyncFailed = "DBSyncFailed"
	// EventSchemaDriftDetected: bring the schema to the revision of the image.
	EventSchemaDriftDetected = "SchemaDriftDetected"
	// EventExpandFailed: correct what the DatabaseReady condition names, or set image.tag back.
	EventExpandFailed = "ExpandFailed"
	// EventMigrateFailed: correct what the DatabaseReady condition names, or set image.tag back.
	EventMigrateFailed = "MigrateFailed"
	// EventContractFailed: correct what the DatabaseReady condition names.
	EventContractFailed = "ContractFailed"
	// EventVersionParseError: use an image tag of the form YYYY.N or YYYY.N-suffix.
	EventVersionParseError = "VersionParseError"
	// EventDowngradeNotSupported: set image.tag back to the installed release or a later one.
	EventDowngradeNotSupported = "DowngradeNotSupported"
	// EventUpgradePathInvalid: upgrade one release at a time.
	EventUpgradePathInvalid = "UpgradePathInvalid"
	// EventUpgradeTargetChanged: set image.tag to the upgrade's target or back to the installed release.
	EventUpgradeTargetChanged = "UpgradeTargetChanged"
	// EventUpgradeAbortRefused: set image.tag to the upgrade's target again.
	EventUpgradeAbortRefused = "UpgradeAbortRefused"
	// EventBootstrapFailed: correct what the BootstrapReady condition names.
	EventBootstrapFailed = "BootstrapFailed"
	// EventRotationAnnotationInvalid: delete the staging Secret the message names; the next rotation makes a new one.
	EventRotationAnnotationInvalid = "RotationAnnotationInvalid"
	// EventRotationRejected: look at the rotation Job's log; the keys in use stay.
	EventRotationRejected = "RotationRejected"
	// EventAdminPasswordRotationAnnotationInvalid: delete the staging Secret the message names.
	EventAdminPasswordRotationAnnotationInvalid = "AdminPasswordRotationAnnotationInvalid"
	// EventAdminPasswordRotationRejected: look at the rotation Job's log; the password in use stays.
	EventAdminPasswordRotationRejected = "AdminPasswordRotationRejected"
	// EventDBSyncMetricEmissionDeferred: nothing to do; a metric of a Job is recorded later.
	EventDBSyncMetricEmissionDeferred = "DBSyncMetricEmissionDeferred"
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
	// EventBackupFailing: repair what the BackupHealthy condition, or PasswordRotationReady for the password, names.
	EventBackupFailing = "BackupFailing"
	// EventOpenBaoFinalizerTimedOut: repair the secret backend; External Secrets removes the key backups as soon as it answers.
	EventOpenBaoFinalizerTimedOut = "OpenBaoFinalizerTimedOut"
	// EventESOAdoptionTimedOut: delete the key backups in the secret backend by hand.
	EventESOAdoptionTimedOut = "ESOAdoptionTimedOut"
	// EventCacheUnavailable: look at the cache that KeystoneAPIReady names; requests are answered without it.
	EventCacheUnavailable = "CacheUnavailable"
	// EventLoggingStderrDisabled: remove DEFAULT.use_stderr from extraConfig.
	EventLoggingStderrDisabled = "LoggingStderrDisabled"
)
