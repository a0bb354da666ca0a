package vocabulary

// Condition types that mean the same on the resource of every API service that has them.
const (
	// ConditionSecretsReady covers the Secrets the spec refers to and the configuration made from them.
	ConditionSecretsReady = "SecretsReady"
	// ConditionDatabaseTLSReady covers the client certificate for the database.
	ConditionDatabaseTLSReady = "DatabaseTLSReady"
	// ConditionServiceUserReady covers the user as which the service validates tokens at the Identity service.
	ConditionServiceUserReady = "ServiceUserReady"
	// ConditionNetworkPolicyReady covers the NetworkPolicy.
	ConditionNetworkPolicyReady = "NetworkPolicyReady"
	// ConditionDatabaseReady covers the database, its user and its schema.
	ConditionDatabaseReady = "DatabaseReady"
	// ConditionPolicyValidReady covers the check of policyOverrides against the image.
	ConditionPolicyValidReady = "PolicyValidReady"
	// ConditionDeploymentReady covers the API pods.
	ConditionDeploymentReady = "DeploymentReady"
	// ConditionHTTPRouteReady covers the route through the Gateway.
	ConditionHTTPRouteReady = "HTTPRouteReady"
	// ConditionHPAReady covers the HorizontalPodAutoscaler.
	ConditionHPAReady = "HPAReady"
	// ConditionReleaseConsistent is False if the image is known to hold another release than its tag says; it is informational.
	ConditionReleaseConsistent = "ReleaseConsistent"
	// ConditionLoggingHealthy reports whether log records reach standard error; it is informational.
	ConditionLoggingHealthy = "LoggingHealthy"
)

// Reasons that mean the same on the resource of every API service. A reason is stable,
// so alerts and scripts may rely on it; the condition's message gives the details and
// says what to do.
const (
	// ReasonDatabaseInUse: give one of the two resources another database, or delete it; only the one that the message names is reconciled.
	ReasonDatabaseInUse = "DatabaseInUse"
	// ReasonSecretsAvailable: nothing to do.
	ReasonSecretsAvailable = "SecretsAvailable"
	// ReasonSecretStoreNotReady: repair the ClusterSecretStore or the secret backend behind it.
	ReasonSecretStoreNotReady = "SecretStoreNotReady"
	// ReasonWaitingForDBCredentials: create the Secret of database.secretRef with the keys the message names.
	ReasonWaitingForDBCredentials = "WaitingForDBCredentials"
	// ReasonWaitingForExtraConfig: create the Secret of extraConfigSecretRef with the key the message names.
	ReasonWaitingForExtraConfig = "WaitingForExtraConfig"
	// ReasonWaitingForPodInputs: create the ConfigMap or Secret of extraVolumes or extraEnv that the message names, or its key.
	ReasonWaitingForPodInputs = "WaitingForPodInputs"
	// ReasonSecretInvalid: correct the value of the Secret's key that the message names.
	ReasonSecretInvalid = "SecretInvalid"
	// ReasonConfigError: correct the part of the spec, the policy ConfigMap or the Secret of extraConfigSecretRef that the message names.
	ReasonConfigError = "ConfigError"
	// ReasonConfigCheckInProgress: wait; the image is reading the configuration.
	ReasonConfigCheckInProgress = "ConfigCheckInProgress"
	// ReasonNotRequired: nothing to do; database.tls is off.
	ReasonNotRequired = "NotRequired"
	// ReasonExternallyManaged: nothing to do; the certificate is the one the spec refers to.
	ReasonExternallyManaged = "ExternallyManaged"
	// ReasonCertificateIssued: nothing to do.
	ReasonCertificateIssued = "CertificateIssued"
	// ReasonCertificatePending: wait, or repair cert-manager and the issuer the message names.
	ReasonCertificatePending = "CertificatePending"
	// ReasonServiceUserAccepted: nothing to do.
	ReasonServiceUserAccepted = "ServiceUserAccepted"
	// ReasonWaitingForServiceUser: create the Secret of serviceUserSecretRef with the keys the message names.
	ReasonWaitingForServiceUser = "WaitingForServiceUser"
	// ReasonServiceUserCheckInProgress: wait; the user logs in to the Identity service.
	ReasonServiceUserCheckInProgress = "ServiceUserCheckInProgress"
	// ReasonServiceUserRefused: correct what the message names; the API pods keep their current user.
	ReasonServiceUserRefused = "ServiceUserRefused"
	// ReasonNetworkPolicyReady: nothing to do.
	ReasonNetworkPolicyReady = "NetworkPolicyReady"
	// ReasonNetworkPolicyNotRequired: nothing to do; networkPolicy is not set.
	ReasonNetworkPolicyNotRequired = "NetworkPolicyNotRequired"
	// ReasonDatabaseSynced: nothing to do.
	ReasonDatabaseSynced = "DatabaseSynced"
	// ReasonMariaDBNotInstalled: install mariadb-operator, or use database.host.
	ReasonMariaDBNotInstalled = "MariaDBNotInstalled"
	// ReasonClusterNotReady: repair the MariaDB of database.clusterRef.
	ReasonClusterNotReady = "ClusterNotReady"
	// ReasonWaitingForDatabase: wait; the message names the Database, User or Grant that is not ready.
	ReasonWaitingForDatabase = "WaitingForDatabase"
	// ReasonDBSyncInProgress: wait; the schema is being installed, or migrated offline.
	ReasonDBSyncInProgress = "DBSyncInProgress"
	// ReasonDBSyncFailed: correct what the message names; the Job runs again when its input changes.
	ReasonDBSyncFailed = "DBSyncFailed"
	// ReasonSchemaCheckInProgress: wait; the installed schema is being checked.
	ReasonSchemaCheckInProgress = "SchemaCheckInProgress"
	// ReasonSchemaDriftDetected: find out who changed the schema and bring it to the revision of the image.
	ReasonSchemaDriftDetected = "SchemaDriftDetected"
	// ReasonDatabaseNewerThanImage: set image.tag to the release that the database comes from, or restore a backup that fits image.tag.
	ReasonDatabaseNewerThanImage = "DatabaseNewerThanImage"
	// ReasonVersionParseError: use an image tag of the form YYYY.N or YYYY.N-suffix.
	ReasonVersionParseError = "VersionParseError"
	// ReasonDowngradeNotSupported: set image.tag back to the installed release or a later one.
	ReasonDowngradeNotSupported = "DowngradeNotSupported"
	// ReasonUpgradePathInvalid: upgrade to the release that the message names first.
	ReasonUpgradePathInvalid = "UpgradePathInvalid"
	// ReasonUpgradeTargetChanged: set image.tag to the running upgrade's target or back to the installed release.
	ReasonUpgradeTargetChanged = "UpgradeTargetChanged"
	// ReasonExpandInProgress: wait; tables and columns are being added.
	ReasonExpandInProgress = "ExpandInProgress"
	// ReasonExpandFailed: correct what the message names, or set image.tag back to abort.
	ReasonExpandFailed = "ExpandFailed"
	// ReasonMigrateInProgress: wait; data is being moved.
	ReasonMigrateInProgress = "MigrateInProgress"
	// ReasonMigrateFailed: correct what the message names, or set image.tag back to abort.
	ReasonMigrateFailed = "MigrateFailed"
	// ReasonUpgradeRollingUpdate: wait; the pods of the old release are being replaced.
	ReasonUpgradeRollingUpdate = "UpgradeRollingUpdate"
	// ReasonContractInProgress: wait; what only the old release used is being dropped.
	ReasonContractInProgress = "ContractInProgress"
	// ReasonContractFailed: correct what the message names; going back is no longer possible.
	ReasonContractFailed = "ContractFailed"
	// ReasonUpgradeStopping: wait; the pods of the old release are being stopped for an offline upgrade.
	ReasonUpgradeStopping = "UpgradeStopping"
	// ReasonUpgradeHeld: wait for the ControlPlane to upgrade another service first, or remove the annotation the message names.
	ReasonUpgradeHeld = "UpgradeHeld"
	// ReasonUpgradeAborting: wait; the Jobs of the upgrade are being stopped.
	ReasonUpgradeAborting = "UpgradeAborting"
	// ReasonUpgradeAbortRefused: set image.tag to the target again; the schema no longer fits the old release.
	ReasonUpgradeAbortRefused = "UpgradeAbortRefused"
	// ReasonPolicyValidationNotRequired: nothing to do; policyOverrides is not set.
	ReasonPolicyValidationNotRequired = "PolicyValidationNotRequired"
	// ReasonPolicyValidationPassed: nothing to do.
	ReasonPolicyValidationPassed = "PolicyValidationPassed"
	// ReasonPolicyValidationInProgress: wait; the rules are being checked.
	ReasonPolicyValidationInProgress = "PolicyValidationInProgress"
	// ReasonPolicyValidationFailed: correct the rule the message names.
	ReasonPolicyValidationFailed = "PolicyValidationFailed"
	// ReasonDeploymentReady: nothing to do.
	ReasonDeploymentReady = "DeploymentReady"
	// ReasonWaitingForDeployment: wait; if it persists, look at the pod or the obstacle the message names.
	ReasonWaitingForDeployment = "WaitingForDeployment"
	// ReasonDeploymentStopped: wait; the API pods are stopped while an offline upgrade migrates the database.
	ReasonDeploymentStopped = "DeploymentStopped"
	// ReasonImagePullFailed: correct image, name a Secret with a login to its registry in imagePullSecrets, or give the nodes access to it.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonAPIHealthy: nothing to do.
	ReasonAPIHealthy = "APIHealthy"
	// ReasonProbePending: wait; the API has not been probed yet.
	ReasonProbePending = "ProbePending"
	// ReasonEndpointNotReady: wait, or repair the cluster's DNS.
	ReasonEndpointNotReady = "EndpointNotReady"
	// ReasonAPIUnhealthy: look at the API pods' log for the status code the message names.
	ReasonAPIUnhealthy = "APIUnhealthy"
	// ReasonHealthCheckTimeout: look at the API pods' load and at the database.
	ReasonHealthCheckTimeout = "HealthCheckTimeout"
	// ReasonConnectionFailed: look at the API pods, and at NetworkPolicies between the operator and them.
	ReasonConnectionFailed = "ConnectionFailed"
	// ReasonHealthCheckFailed: look at the error in the message.
	ReasonHealthCheckFailed = "HealthCheckFailed"
	// ReasonHPAReady: nothing to do.
	ReasonHPAReady = "HPAReady"
	// ReasonHPANotScaling: give the pods the request that the message names, or the cluster metrics of its pods.
	ReasonHPANotScaling = "HPANotScaling"
	// ReasonHPANotRequired: nothing to do; autoscaling is not set.
	ReasonHPANotRequired = "HPANotRequired"
	// ReasonHTTPRouteAccepted: nothing to do.
	ReasonHTTPRouteAccepted = "HTTPRouteAccepted"
	// ReasonHTTPRouteNotRequired: nothing to do; gateway is not set.
	ReasonHTTPRouteNotRequired = "HTTPRouteNotRequired"
	// ReasonHTTPRouteNotAccepted: correct gateway.parentRef, or let the Gateway's listener accept the route.
	ReasonHTTPRouteNotAccepted = "HTTPRouteNotAccepted"
	// ReasonGatewayAPINotInstalled: install the Gateway API, or remove gateway.
	ReasonGatewayAPINotInstalled = "GatewayAPINotInstalled"
	// ReasonStderrEnabled: nothing to do.
	ReasonStderrEnabled = "StderrEnabled"
	// ReasonReleaseMatches: nothing to do; the image holds the release that its tag says.
	ReasonReleaseMatches = "ReleaseMatches"
	// ReasonReleaseUnknown: nothing to do; the operator does not know the version in the image, or the release that it belongs to.
	ReasonReleaseUnknown = "ReleaseUnknown"
	// ReasonReleaseDiffers: set the tag to a build that holds the release; until then no upgrade begins.
	ReasonReleaseDiffers = "ReleaseDiffers"
	// ReasonStderrDisabled: remove DEFAULT.use_stderr from extraConfig, or collect the log where it goes.
	ReasonStderrDisabled = "StderrDisabled"
)

// Reasons of events that mean the same on the resource of every API service. An event
// marks a transition, never a state; the state is in the conditions.
const (
	// EventDatabaseSynced: the schema was brought to the image's revision.
	EventDatabaseSynced = "DatabaseSynced"
	// EventUpgradeInitiated: an upgrade to a later release began.
	EventUpgradeInitiated = "UpgradeInitiated"
	// EventExpandComplete: tables and columns of the new release were added.
	EventExpandComplete = "ExpandComplete"
	// EventMigrateComplete: data was moved to the expanded schema.
	EventMigrateComplete = "MigrateComplete"
	// EventServiceStopped: no pod of the old release is left, and the database is migrated offline.
	EventServiceStopped = "ServiceStopped"
	// EventDeploymentRolloutComplete: no pod of the old release is left.
	EventDeploymentRolloutComplete = "DeploymentRolloutComplete"
	// EventUpgradeComplete: the new release is installed.
	EventUpgradeComplete = "UpgradeComplete"
	// EventUpgradeAborted: the upgrade was aborted.
	EventUpgradeAborted = "UpgradeAborted"
	// EventFinalizingDatabase: the database, its user and its grant are being deleted.
	EventFinalizingDatabase = "FinalizingDatabase"
	// EventDatabaseFinalized: the database was released.
	EventDatabaseFinalized = "DatabaseFinalized"
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
	// EventDatabaseNewerThanImage: set image.tag to the release that the database comes from, or restore a backup that fits image.tag.
	EventDatabaseNewerThanImage = "DatabaseNewerThanImage"
	// EventVersionParseError: use an image tag of the form YYYY.N or YYYY.N-suffix.
	EventVersionParseError = "VersionParseError"
	// EventDowngradeNotSupported: set image.tag back to the installed release or a later one.
	EventDowngradeNotSupported = "DowngradeNotSupported"
	// EventReleaseDiffers: use a build that holds the release of its tag; no upgrade begins before.
	EventReleaseDiffers = "ReleaseDiffers"
	// EventUpgradePathInvalid: upgrade to the release that the DatabaseReady condition names first.
	EventUpgradePathInvalid = "UpgradePathInvalid"
	// EventUpgradeTargetChanged: set image.tag to the upgrade's target or back to the installed release.
	EventUpgradeTargetChanged = "UpgradeTargetChanged"
	// EventUpgradeAbortRefused: set image.tag to the upgrade's target again.
	EventUpgradeAbortRefused = "UpgradeAbortRefused"
	// EventDBSyncMetricEmissionDeferred: nothing to do; a metric of a Job is recorded later.
	EventDBSyncMetricEmissionDeferred = "DBSyncMetricEmissionDeferred"
	// EventLoggingStderrDisabled: remove DEFAULT.use_stderr from extraConfig.
	EventLoggingStderrDisabled = "LoggingStderrDisabled"
)

// Words about Secrets with keys that cannot be made again, which only some services have; see
// package keysecret.
const (
	// ConditionBackupHealthy reports whether the secret store has a copy of the keys; it is informational.
	ConditionBackupHealthy = "BackupHealthy"
	// ReasonOpenBaoFinalizerBlocked: wait, or repair the secret backend; deletion continues when the backups are gone, or after 10 minutes.
	ReasonOpenBaoFinalizerBlocked = "OpenBaoFinalizerBlocked"
	// ReasonWaitingForESOAdoption: wait, or repair External Secrets; deletion continues without it after 10 minutes.
	ReasonWaitingForESOAdoption = "WaitingForESOAdoption"
	// ReasonGeneratingKeys: wait; the first keys are being generated.
	ReasonGeneratingKeys = "GeneratingKeys"
	// ReasonCheckingKeys: wait until the Job has tested whether the changed keys read the database; if it cannot, the message says why.
	ReasonCheckingKeys = "CheckingKeys"
	// ReasonKeysMissing: restore the key Secret the message names from its backup, because new keys would make existing data unreadable.
	ReasonKeysMissing = "KeysMissing"
	// ReasonKeysBackedUp: nothing to do.
	ReasonKeysBackedUp = "KeysBackedUp"
	// ReasonBackupNotConfigured: install External Secrets, or keep copies of the key Secrets yourself.
	ReasonBackupNotConfigured = "BackupNotConfigured"
	// ReasonBackupPending: wait; External Secrets has not stored the keys yet.
	ReasonBackupPending = "BackupPending"
	// ReasonBackupFailing: repair what the message names; the keys exist only in the cluster until then.
	ReasonBackupFailing = "BackupFailing"
	// EventFinalizingOpenBaoSecrets: the key backups are being deleted.
	EventFinalizingOpenBaoSecrets = "FinalizingOpenBaoSecrets"
	// EventOpenBaoSecretsFinalized: the key backups are gone.
	EventOpenBaoSecretsFinalized = "OpenBaoSecretsFinalized"
	// EventKeysKept: the keys and their copies stay with the database.
	EventKeysKept = "KeysKept"
	// EventBackupFailing: repair what the BackupHealthy condition, or that of a rotated password, names.
	EventBackupFailing = "BackupFailing"
	// EventOpenBaoFinalizerTimedOut: repair the secret backend; External Secrets removes the key backups as soon as it answers.
	EventOpenBaoFinalizerTimedOut = "OpenBaoFinalizerTimedOut"
	// EventESOAdoptionTimedOut: delete the key backups in the secret backend by hand.
	EventESOAdoptionTimedOut = "ESOAdoptionTimedOut"
)

// Words about the removal of what users have deleted from the database, which only some services
// need; see package scheduled.
const (
	// ConditionCleanUpReady covers the removal of what users have deleted from the database.
	ConditionCleanUpReady = "CleanUpReady"
	// ReasonCleanUpReady: nothing to do.
	ReasonCleanUpReady = "CleanUpReady"
	// ReasonCleanUpFailed: correct what the message names; what users have deleted stays in the database until a Job of the CronJob succeeds.
	ReasonCleanUpFailed = "CleanUpFailed"
	// EventCleanUpFailed: correct what the CleanUpReady condition names.
	EventCleanUpFailed = "CleanUpFailed"
)
