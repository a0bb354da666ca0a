package v1alpha1

// Condition types. Ready of a ControlPlane summarises all of its conditions except the
// two of kstatus and the informational ones; the companion kinds have only Ready and those two.
const (
	// ConditionInfrastructureReady covers the database and the cache.
	ConditionInfrastructureReady = "InfrastructureReady"
	// ConditionDBCredentialsReady covers the Secret with the database's user and password.
	ConditionDBCredentialsReady = "DBCredentialsReady"
	// ConditionAdminPasswordReady covers the Secret with the administrator's password.
	ConditionAdminPasswordReady = "AdminPasswordReady"
	// ConditionKeystoneReady covers the Keystone resource.
	ConditionKeystoneReady = "KeystoneReady"
	// ConditionIdentityBackendsReady covers the identity backends of the Keystone; it is informational.
	ConditionIdentityBackendsReady = "IdentityBackendsReady"
	// ConditionKORCReady covers the application credential that K-ORC creates.
	ConditionKORCReady = "KORCReady"
	// ConditionAdminCredentialReady covers the delivery of the application credential through the secret store into clouds.yaml.
	ConditionAdminCredentialReady = "AdminCredentialReady"
	// ConditionBarbicanReady covers the Barbican resource, and its user in Keystone.
	ConditionBarbicanReady = "BarbicanReady"
	// ConditionGlanceReady covers the Glance resource, its backends, and its user in Keystone.
	ConditionGlanceReady = "GlanceReady"
	// ConditionHorizonReady covers the Horizon resource.
	ConditionHorizonReady = "HorizonReady"
	// ConditionPlacementReady covers the Placement resource, and its user in Keystone.
	ConditionPlacementReady = "PlacementReady"
	// ConditionCatalogReady covers the entries of the services in the service catalog.
	ConditionCatalogReady = "CatalogReady"
	// ConditionRestoreReady covers the restore of a backup.
	ConditionRestoreReady = "RestoreReady"
	// ConditionBackupReady covers the backups of the databases and of Keystone's keys; it is informational.
	ConditionBackupReady = "BackupReady"
)

// Reasons of conditions. A reason is stable, so alerts and scripts may rely on
// it; the condition's message gives the details and says what to do.
const (
	// ReasonDuplicateControlPlane: delete this ControlPlane or the one the message names; only the older one is reconciled.
	ReasonDuplicateControlPlane = "DuplicateControlPlane"

	// ReasonInfrastructureReady: nothing to do.
	ReasonInfrastructureReady = "InfrastructureReady"
	// ReasonMariaDBNotInstalled: install mariadb-operator, or use database.host.
	ReasonMariaDBNotInstalled = "MariaDBNotInstalled"
	// ReasonMemcachedNotInstalled: install the memcached operator, or use cache.servers.
	ReasonMemcachedNotInstalled = "MemcachedNotInstalled"
	// ReasonMariaDBError: look at the error in the message.
	ReasonMariaDBError = "MariaDBError"
	// ReasonMemcachedError: look at the error in the message.
	ReasonMemcachedError = "MemcachedError"
	// ReasonWaitingForDatabase: wait; if it persists, look at the MariaDB the message names.
	ReasonWaitingForDatabase = "WaitingForDatabase"
	// ReasonWaitingForCache: wait; if it persists, look at the Memcached the message names.
	ReasonWaitingForCache = "WaitingForCache"

	// ReasonDBCredentialsReady: nothing to do.
	ReasonDBCredentialsReady = "DBCredentialsReady"
	// ReasonAdminPasswordReady: nothing to do.
	ReasonAdminPasswordReady = "AdminPasswordReady"
	// ReasonBrownfieldUserSuppliedCredential: nothing to do; the Secret that the spec names is yours.
	ReasonBrownfieldUserSuppliedCredential = "BrownfieldUserSuppliedCredential"
	// ReasonExternalSecretsNotInstalled: install External Secrets, or use database.host with Secrets of your own.
	ReasonExternalSecretsNotInstalled = "ExternalSecretsNotInstalled"
	// ReasonSecretStoreNotReady: repair the ClusterSecretStore or the secret backend behind it.
	ReasonSecretStoreNotReady = "SecretStoreNotReady"
	// ReasonExternalSecretError: look at the error in the message.
	ReasonExternalSecretError = "ExternalSecretError"
	// ReasonWaitingForDBCredentialSecret: wait; if it persists, put the user and the password at the path the message names.
	ReasonWaitingForDBCredentialSecret = "WaitingForDBCredentialSecret"
	// ReasonWaitingForAdminPasswordSecret: wait; if it persists, put the password at the path the message names.
	ReasonWaitingForAdminPasswordSecret = "WaitingForAdminPasswordSecret"

	// ReasonFinalizingKeystone: wait; Keystone's database is dropped before its server
	// is deleted; if it persists, look at what the message names.
	ReasonFinalizingKeystone = "FinalizingKeystone"
	// ReasonKeystoneReady: nothing to do.
	ReasonKeystoneReady = "KeystoneReady"
	// ReasonKeystoneNotManaged: nothing to do; services.keystone is not set.
	ReasonKeystoneNotManaged = "KeystoneNotManaged"
	// ReasonKeystoneNotInstalled: install the Keystone operator.
	ReasonKeystoneNotInstalled = "KeystoneNotInstalled"
	// ReasonWaitingForInfrastructure: wait for InfrastructureReady.
	ReasonWaitingForInfrastructure = "WaitingForInfrastructure"
	// ReasonKeystoneError: look at the error in the message.
	ReasonKeystoneError = "KeystoneError"
	// ReasonKeystoneProjectionRejected: correct the field of services.keystone that the message names.
	ReasonKeystoneProjectionRejected = "KeystoneProjectionRejected"
	// ReasonRollBackRefused: set openStackRelease to the release the message names; the update has gone too far to be taken back.
	ReasonRollBackRefused = "RollBackRefused"
	// ReasonWaitingForKeystone: wait; if it persists, look at the conditions of the Keystone.
	ReasonWaitingForKeystone = "WaitingForKeystone"

	// ReasonIdentityBackendsReady: nothing to do.
	ReasonIdentityBackendsReady = "IdentityBackendsReady"
	// ReasonNoIdentityBackends: nothing to do; services.keystone.identityBackends is empty.
	ReasonNoIdentityBackends = "NoIdentityBackends"
	// ReasonIdentityBackendError: look at the error in the message.
	ReasonIdentityBackendError = "IdentityBackendError"
	// ReasonWaitingForIdentityBackends: wait; if it persists, look at the conditions of the KeystoneIdentityBackends that the
	// message names; users of other domains are not affected.
	ReasonWaitingForIdentityBackends = "WaitingForIdentityBackends"

	// ReasonFinalizingBarbican: wait; Barbican's database is dropped before its
	// server is deleted; if it persists, look at what the message names.
	ReasonFinalizingBarbican = "FinalizingBarbican"
	// ReasonBarbicanReady: nothing to do.
	ReasonBarbicanReady = "BarbicanReady"
	// ReasonBarbicanNotManaged: nothing to do; services.barbican is not set.
	ReasonBarbicanNotManaged = "BarbicanNotManaged"
	// ReasonBarbicanNotInstalled: install the Barbican operator.
	ReasonBarbicanNotInstalled = "BarbicanNotInstalled"
	// ReasonBarbicanError: look at the error in the message.
	ReasonBarbicanError = "BarbicanError"
	// ReasonBarbicanProjectionRejected: correct the field of services.barbican that the message names.
	ReasonBarbicanProjectionRejected = "BarbicanProjectionRejected"
	// ReasonWaitingForBarbican: wait; if it persists, look at the conditions of the Barbican.
	ReasonWaitingForBarbican = "WaitingForBarbican"

	// ReasonFinalizingGlance: wait; Glance's database is dropped before its
	// server is deleted; if it persists, look at what the message names.
	ReasonFinalizingGlance = "FinalizingGlance"
	// ReasonGlanceReady: nothing to do.
	ReasonGlanceReady = "GlanceReady"
	// ReasonGlanceNotManaged: nothing to do; services.glance is not set.
	ReasonGlanceNotManaged = "GlanceNotManaged"
	// ReasonGlanceNotInstalled: install the Glance operator.
	ReasonGlanceNotInstalled = "GlanceNotInstalled"
	// ReasonGlanceError: look at the error in the message.
	ReasonGlanceError = "GlanceError"
	// ReasonGlanceProjectionRejected: correct the field of services.glance that the message names.
	ReasonGlanceProjectionRejected = "GlanceProjectionRejected"
	// ReasonWaitingForGlance: wait; if it persists, look at the conditions of the Glance, or of the GlanceBackend that the
	// message names.
	ReasonWaitingForGlance = "WaitingForGlance"

	// ReasonHorizonReady: nothing to do.
	ReasonHorizonReady = "HorizonReady"
	// ReasonHorizonNotManaged: nothing to do; services.horizon is not set.
	ReasonHorizonNotManaged = "HorizonNotManaged"
	// ReasonHorizonNotInstalled: install the Horizon operator.
	ReasonHorizonNotInstalled = "HorizonNotInstalled"
	// ReasonHorizonError: look at the error in the message.
	ReasonHorizonError = "HorizonError"
	// ReasonHorizonProjectionRejected: correct the field of services.horizon that the message names.
	ReasonHorizonProjectionRejected = "HorizonProjectionRejected"
	// ReasonWaitingForHorizon: wait; if it persists, look at the conditions of the Horizon.
	ReasonWaitingForHorizon = "WaitingForHorizon"

	// ReasonFinalizingPlacement: wait; Placement's database is dropped before its
	// server is deleted; if it persists, look at what the message names.
	ReasonFinalizingPlacement = "FinalizingPlacement"
	// ReasonPlacementReady: nothing to do.
	ReasonPlacementReady = "PlacementReady"
	// ReasonPlacementNotManaged: nothing to do; services.placement is not set.
	ReasonPlacementNotManaged = "PlacementNotManaged"
	// ReasonPlacementNotInstalled: install the Placement operator.
	ReasonPlacementNotInstalled = "PlacementNotInstalled"
	// ReasonPlacementError: look at the error in the message.
	ReasonPlacementError = "PlacementError"
	// ReasonPlacementProjectionRejected: correct the field of services.placement that the message names.
	ReasonPlacementProjectionRejected = "PlacementProjectionRejected"
	// ReasonWaitingForPlacement: wait; if it persists, look at the conditions of the Placement.
	ReasonWaitingForPlacement = "WaitingForPlacement"
	// ReasonWaitingForServiceUser: wait; if it persists, look at the K-ORC User the message names.
	ReasonWaitingForServiceUser = "WaitingForServiceUser"
	// ReasonServiceUserError: look at the error in the message.
	ReasonServiceUserError = "ServiceUserError"
	// ReasonServiceUserUnproven: do what the message says; the service keeps its current user.
	ReasonServiceUserUnproven = "ServiceUserUnproven"
	// ReasonServiceUserRejected: wait; Keystone refuses the service's user, so a new one is created.
	ReasonServiceUserRejected = "ServiceUserRejected"

	// ReasonApplicationCredentialMinted: nothing to do.
	ReasonApplicationCredentialMinted = "ApplicationCredentialMinted"
	// ReasonKORCNotInstalled: install K-ORC, the OpenStack Resource Controller.
	ReasonKORCNotInstalled = "KORCNotInstalled"
	// ReasonWaitingForAdminPassword: create the Secret with the administrator's password, with the key the message names.
	ReasonWaitingForAdminPassword = "WaitingForAdminPassword"
	// ReasonAdminPasswordError: look at the error in the message.
	ReasonAdminPasswordError = "AdminPasswordError"
	// ReasonPasswordCloudError: look at the error in the message.
	ReasonPasswordCloudError = "PasswordCloudError"
	// ReasonAdminImportError: look at the error in the message.
	ReasonAdminImportError = "AdminImportError"
	// ReasonSecretError: look at the error in the message.
	ReasonSecretError = "SecretError"
	// ReasonSeedCloudsYamlError: look at the error in the message.
	ReasonSeedCloudsYamlError = "SeedCloudsYamlError"
	// ReasonPushSecretError: look at the error in the message.
	ReasonPushSecretError = "PushSecretError"
	// ReasonApplicationCredentialError: look at the error in the message.
	ReasonApplicationCredentialError = "ApplicationCredentialError"
	// ReasonApplicationCredentialFailed: correct what K-ORC reports in the message; then it is retried.
	ReasonApplicationCredentialFailed = "ApplicationCredentialFailed"
	// ReasonWaitingForApplicationCredential: wait; if it persists, look at the ApplicationCredential and the imports the message names.
	ReasonWaitingForApplicationCredential = "WaitingForApplicationCredential"
	// ReasonReMinting: wait; the application credential is being replaced.
	ReasonReMinting = "ReMinting"
	// ReasonReMintStalled: repair K-ORC or its connection to Keystone; a new
	// application credential is not created, or the old one is not revoked.
	ReasonReMintStalled = "ReMintStalled"
	// ReasonBootstrapResourceError: look at the error in the message.
	ReasonBootstrapResourceError = "BootstrapResourceError"
	// ReasonWaitingForBootstrapResources: wait; if it persists, look at the K-ORC objects the message names.
	ReasonWaitingForBootstrapResources = "WaitingForBootstrapResources"
	// ReasonFinalizingORC: wait; K-ORC is removing what it created in Keystone.
	ReasonFinalizingORC = "FinalizingORC"
	// ReasonORCObjectsInUse: delete the K-ORC objects that the message names; without the control plane K-ORC cannot delete them.
	ReasonORCObjectsInUse = "ORCObjectsInUse"

	// ReasonAdminCredentialReady: nothing to do.
	ReasonAdminCredentialReady = "AdminCredentialReady"
	// ReasonWaitingForKORC: wait for KORCReady.
	ReasonWaitingForKORC = "WaitingForKORC"
	// ReasonCloudsYamlError: look at the error in the message.
	ReasonCloudsYamlError = "CloudsYamlError"
	// ReasonWaitingForCloudsYaml: wait; if it persists, look at the ExternalSecret the message names.
	ReasonWaitingForCloudsYaml = "WaitingForCloudsYaml"
	// ReasonCredentialUnproven: let the operator reach Keystone at the address in the message; users keep their current credential.
	ReasonCredentialUnproven = "CredentialUnproven"
	// ReasonCredentialRejected: wait; Keystone rejects the application credential, so a new one is created.
	ReasonCredentialRejected = "CredentialRejected"
	// ReasonWaitingForPushSecret: wait; if it persists, look at the PushSecret the message names.
	ReasonWaitingForPushSecret = "WaitingForPushSecret"
	// ReasonWaitingForCloudsYamlSync: wait; the new credential is being delivered through the secret store.
	ReasonWaitingForCloudsYamlSync = "WaitingForCloudsYamlSync"
	// ReasonCloudsYamlSyncStuck: repair External Secrets or the secret backend; the new credential has not arrived for 15 minutes.
	ReasonCloudsYamlSyncStuck = "CloudsYamlSyncStuck"

	// ReasonCatalogRegistered: nothing to do.
	ReasonCatalogRegistered = "CatalogRegistered"
	// ReasonWaitingForAdminCredential: wait for AdminCredentialReady.
	ReasonWaitingForAdminCredential = "WaitingForAdminCredential"
	// ReasonWaitingForCatalog: wait; if it persists, look at the K-ORC Service and Endpoint the message names.
	ReasonWaitingForCatalog = "WaitingForCatalog"
	// ReasonCatalogFailed: correct what K-ORC reports in the message; then it is retried.
	ReasonCatalogFailed = "CatalogFailed"
	// ReasonServiceError: look at the error in the message.
	ReasonServiceError = "ServiceError"
	// ReasonEndpointError: look at the error in the message.
	ReasonEndpointError = "EndpointError"
	// ReasonEndpointRegionError: do what the message says; until then clients that ask for the region may not find the endpoints.
	ReasonEndpointRegionError = "EndpointRegionError"

	// ReasonBackedUp: nothing to do.
	ReasonBackedUp = "BackedUp"
	// ReasonBackupScheduled: nothing to do; the first backup follows the schedule, or kubectl forge backup.
	ReasonBackupScheduled = "BackupScheduled"
	// ReasonBackupNotConfigured: set spec.backup, or take backups with other tools.
	ReasonBackupNotConfigured = "BackupNotConfigured"
	// ReasonBackupFailed: correct what the log of the Job that the message names reports; then the next backup succeeds.
	ReasonBackupFailed = "BackupFailed"
	// ReasonBackupError: look at the error in the message.
	ReasonBackupError = "BackupError"
	// ReasonReplacingBackup: wait; mariadb-operator's Backup is being replaced.
	ReasonReplacingBackup = "ReplacingBackup"
	// ReasonWaitingForEncryptionKey: create the Secret that the message names.
	ReasonWaitingForEncryptionKey = "WaitingForEncryptionKey"
	// ReasonEncryptionKeyInvalid: store an age key in the Secret that the message names.
	ReasonEncryptionKeyInvalid = "EncryptionKeyInvalid"
	// ReasonStoringBackupKeys: wait; the keys of the services are being stored with the databases, encrypted.
	ReasonStoringBackupKeys = "StoringBackupKeys"
	// ReasonBackupKeysNotStored: look at the error in the message; later backups lack the current keys, or the keys do
	// not open all credentials.
	ReasonBackupKeysNotStored = "BackupKeysNotStored"

	// ReasonNoRestoreRequested: nothing to do.
	ReasonNoRestoreRequested = "NoRestoreRequested"
	// ReasonRestored: nothing to do.
	ReasonRestored = "Restored"
	// ReasonCheckingBackup: wait; another server gets the backup first, to prove that its keys fit.
	ReasonCheckingBackup = "CheckingBackup"
	// ReasonRestoring: wait; the databases and the keys are being replaced.
	ReasonRestoring = "Restoring"
	// ReasonRestoreRefused: do what the message says, or remove the annotation c5c3.io/restore; nothing was replaced.
	ReasonRestoreRefused = "RestoreRefused"
	// ReasonRestoreFailed: correct what the log of the Job that the message names reports; then request the restore again.
	ReasonRestoreFailed = "RestoreFailed"
	// ReasonRestoreError: look at the error in the message.
	ReasonRestoreError = "RestoreError"

	// ReasonRotationTriggered: nothing to do; the credential is being replaced.
	ReasonRotationTriggered = "RotationTriggered"
	// ReasonRotationScheduled: nothing to do; the credential is replaced at status.nextRotation.
	ReasonRotationScheduled = "RotationScheduled"
	// ReasonRotationModeNotScheduled: set the rotation mode of the ControlPlane to Scheduled, or remove intervalDays.
	ReasonRotationModeNotScheduled = "RotationModeNotScheduled"
	// ReasonNoRotationNeeded: nothing to do.
	ReasonNoRotationNeeded = "NoRotationNeeded"
	// ReasonBootstrapComplete: nothing to do; there is a credential.
	ReasonBootstrapComplete = "BootstrapComplete"
	// ReasonWaitingForBootstrap: wait; the first credential is being created.
	ReasonWaitingForBootstrap = "WaitingForBootstrap"
	// ReasonUnsupportedTarget: set spec.target to adminApplicationCredential.
	ReasonUnsupportedTarget = "UnsupportedTarget"
	// ReasonNoControlPlane: create a ControlPlane in the namespace.
	ReasonNoControlPlane = "NoControlPlane"
	// ReasonAmbiguousControlPlane: delete all ControlPlanes of the namespace but one.
	ReasonAmbiguousControlPlane = "AmbiguousControlPlane"
	// ReasonControlPlaneListError: look at the error in the message.
	ReasonControlPlaneListError = "ControlPlaneListError"

	// ReasonSecretsAggregated: nothing to do.
	ReasonSecretsAggregated = "SecretsAggregated"
	// ReasonWaitingForSecrets: wait; if it persists, look at the Secret or the key the message names.
	ReasonWaitingForSecrets = "WaitingForSecrets"
	// ReasonKeyCollision: give one of the sources the message names another keyPrefix.
	ReasonKeyCollision = "KeyCollision"
)
