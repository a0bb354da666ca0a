package v1alpha1

// Condition types of a Keystone. Ready sums up all the others but
// BackupHealthy and LoggingHealthy, which only inform, and the two of kstatus.
const (
	// ConditionSecretsReady covers the Secrets the spec refers to and the configuration made from them.
	ConditionSecretsReady = "SecretsReady"
	// ConditionDatabaseTLSReady covers the client certificate for the database.
	ConditionDatabaseTLSReady = "DatabaseTLSReady"
	// ConditionFernetKeysReady covers the keys that sign tokens and their rotation.
	ConditionFernetKeysReady = "FernetKeysReady"
	// ConditionCredentialKeysReady covers the keys that encrypt credentials and their rotation.
	ConditionCredentialKeysReady = "CredentialKeysReady"
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
	// ConditionKeystoneAPIReady reports whether the API answers, and whether the administrator can log in.
	ConditionKeystoneAPIReady = "KeystoneAPIReady"
	// ConditionHPAReady covers the HorizontalPodAutoscaler.
	ConditionHPAReady = "HPAReady"
	// ConditionBootstrapReady covers the administrator, the region and the catalog entry.
	ConditionBootstrapReady = "BootstrapReady"
	// ConditionTrustFlushReady covers the deletion of expired trusts.
	ConditionTrustFlushReady = "TrustFlushReady"
	// ConditionPasswordRotationReady covers the scheduled change of the administrator's password.
	ConditionPasswordRotationReady = "PasswordRotationReady"
	// ConditionBackupHealthy reports whether the secret store has a copy of the keys; it only informs.
	ConditionBackupHealthy = "BackupHealthy"
	// ConditionLoggingHealthy reports whether log records reach standard error; it only informs.
	ConditionLoggingHealthy = "LoggingHealthy"
)

// Reasons of conditions. A reason is stable, so alerts and scripts may rely on
// it; the condition's message says the details and what to do.
const (
	// ReasonDatabaseInUse: give one of the two Keystones another database, or delete it; only the older one is reconciled.
	ReasonDatabaseInUse = "DatabaseInUse"

	// ReasonSecretsAvailable: nothing to do.
	ReasonSecretsAvailable = "SecretsAvailable"
	// ReasonSecretStoreNotReady: repair the ClusterSecretStore or the secret backend behind it.
	ReasonSecretStoreNotReady = "SecretStoreNotReady"
	// ReasonWaitingForDBCredentials: create the Secret of database.secretRef with the keys the message names.
	ReasonWaitingForDBCredentials = "WaitingForDBCredentials"
	// ReasonWaitingForAdminCredentials: create the Secret of bootstrap.adminPasswordSecretRef with the key the message names.
	ReasonWaitingForAdminCredentials = "WaitingForAdminCredentials"
	// ReasonWaitingForExtraConfig: create the Secret of extraConfigSecretRef with the key the message names.
	ReasonWaitingForExtraConfig = "WaitingForExtraConfig"
	// ReasonSecretInvalid: correct the value of the Secret's key that the message names.
	ReasonSecretInvalid = "SecretInvalid"
	// ReasonConfigError: correct the part of the spec, the policy ConfigMap or the Secret of extraConfigSecretRef that the message names.
	ReasonConfigError = "ConfigError"
	// ReasonConfigCheckInProgress: wait; the image is reading the configuration.
	ReasonConfigCheckInProgress = "ConfigCheckInProgress"
	// ReasonOpenBaoFinalizerBlocked: wait, or repair the secret backend; deletion goes on when the backups are gone, or after 10 minutes.
	ReasonOpenBaoFinalizerBlocked = "OpenBaoFinalizerBlocked"
	// ReasonWaitingForESOAdoption: wait, or repair External Secrets; deletion continues without it after 10 minutes.
	ReasonWaitingForESOAdoption = "WaitingForESOAdoption"

	// ReasonNotRequired: nothing to do; database.tls is off.
	ReasonNotRequired = "NotRequired"
	// ReasonExternallyManaged: nothing to do; the certificate is the one the spec refers to.
	ReasonExternallyManaged = "ExternallyManaged"
	// ReasonCertificateIssued: nothing to do.
	ReasonCertificateIssued = "CertificateIssued"
	// ReasonCertificatePending: wait, or repair cert-manager and the issuer the message names.
	ReasonCertificatePending = "CertificatePending"

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
	// ReasonRotationFailed: correct what the message names; the values in use stay, and the next Job of the CronJob that succeeds ends this.
	ReasonRotationFailed = "RotationFailed"
	// ReasonGeneratingKeys: wait; the first keys are being generated.
	ReasonGeneratingKeys = "GeneratingKeys"
	// ReasonKeysMissing: restore the key Secret the message names from its backup, because new keys would make existing data unreadable.
	ReasonKeysMissing = "KeysMissing"

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
	// ReasonDBSyncInProgress: wait; the schema is being installed.
	ReasonDBSyncInProgress = "DBSyncInProgress"
	// ReasonDBSyncFailed: correct what the message names; the Job runs again when its input changes.
	ReasonDBSyncFailed = "DBSyncFailed"
	// ReasonSchemaCheckInProgress: wait; the installed schema is being checked.
	ReasonSchemaCheckInProgress = "SchemaCheckInProgress"
	// ReasonSchemaDriftDetected: find out who changed the schema and bring it to the revision of the image.
	ReasonSchemaDriftDetected = "SchemaDriftDetected"
	// ReasonVersionParseError: use an image tag of the form YYYY.N or YYYY.N-suffix.
	ReasonVersionParseError = "VersionParseError"
	// ReasonDowngradeNotSupported: set image.tag back to the installed release or a later one.
	ReasonDowngradeNotSupported = "DowngradeNotSupported"
	// ReasonUpgradePathInvalid: upgrade one release at a time.
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
	// ReasonImagePullFailed: correct image, name a Secret with a login to its registry in imagePullSecrets, or give the nodes access to it.
	ReasonImagePullFailed = "ImagePullFailed"

	// ReasonAPIHealthy: nothing to do.
	ReasonAPIHealthy = "APIHealthy"
	// ReasonProbePending: wait; the API has not been asked yet.
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
	// ReasonLoginPending: wait; nobody has logged in with the administrator's password yet.
	ReasonLoginPending = "LoginPending"
	// ReasonAdminPasswordRefused: correct the administrator's Secret, or have bootstrap set its password again; it is not tried again soon.
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

	// ReasonHPAReady: nothing to do.
	ReasonHPAReady = "HPAReady"
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
	// ReasonAdminPasswordRotated: wait; a new password is on its way to its Secret and to Keystone.
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

	// ReasonStderrEnabled: nothing to do.
	ReasonStderrEnabled = "StderrEnabled"
	// ReasonStderrDisabled: remove DEFAULT.use_stderr from extraConfig, or collect the log where it goes.
	ReasonStderrDisabled = "StderrDisabled"
)
