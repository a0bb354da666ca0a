package v1alpha1

import "github.com/c5c3/forge/internal/common/vocabulary"

// Words that mean the same on every kind; see package vocabulary.
const (
	ConditionReady       = vocabulary.ConditionReady
	ConditionReconciling = vocabulary.ConditionReconciling
	ConditionStalled     = vocabulary.ConditionStalled

	ReasonAllReady       = vocabulary.ReasonAllReady
	ReasonNotAllReady    = vocabulary.ReasonNotAllReady
	ReasonInvalidSpec    = vocabulary.ReasonInvalidSpec
	ReasonDeleting       = vocabulary.ReasonDeleting
	ReasonProgressing    = vocabulary.ReasonProgressing
	ReasonReconcileError = vocabulary.ReasonReconcileError
)

// Vocabularies returns what each kind of the package says about itself.
func Vocabularies() []vocabulary.Kind {
	return []vocabulary.Kind{{
		Kind:       Kind,
		Conditions: append(append(prerequisiteConditions(), serviceConditions()...), summaryConditions()...),
		Events:     append(vocabulary.Normal(normalEvents...), vocabulary.Warnings(warningEvents...)...),
	}}
}

func prerequisiteConditions() []vocabulary.Condition {
	return []vocabulary.Condition{
		{
			Type: ConditionSecretsReady, Aggregated: true,
			True: []string{ReasonSecretsAvailable},
			False: []string{
				ReasonSecretStoreNotReady, ReasonWaitingForDBCredentials, ReasonWaitingForAdminCredentials, ReasonSecretInvalid,
				ReasonWaitingForExtraConfig, ReasonConfigError, ReasonConfigCheckInProgress, ReasonOpenBaoFinalizerBlocked, ReasonWaitingForESOAdoption,
			},
		},
		{
			Type: ConditionDatabaseTLSReady, Aggregated: true,
			True:  []string{ReasonNotRequired, ReasonExternallyManaged, ReasonCertificateIssued},
			False: []string{ReasonCertificatePending},
		},
		{
			Type: ConditionFernetKeysReady, Aggregated: true,
			True:  []string{ReasonFernetKeysAvailable, ReasonFernetKeysRotated},
			False: []string{ReasonGeneratingKeys, ReasonKeysMissing, ReasonRotationFailed},
		},
		{
			Type: ConditionCredentialKeysReady, Aggregated: true,
			True:  []string{ReasonCredentialKeysAvailable, ReasonCredentialKeysRotated},
			False: []string{ReasonGeneratingKeys, ReasonKeysMissing, ReasonCredentialMigrateFailed, ReasonRotationFailed},
		},
		{
			Type: ConditionNetworkPolicyReady, Aggregated: true,
			True: []string{ReasonNetworkPolicyReady, ReasonNetworkPolicyNotRequired},
		},
		{
			Type: ConditionDatabaseReady, Aggregated: true,
			True: []string{ReasonDatabaseSynced},
			False: []string{
				ReasonMariaDBNotInstalled, ReasonClusterNotReady, ReasonWaitingForDatabase,
				ReasonDBSyncInProgress, ReasonDBSyncFailed, ReasonSchemaCheckInProgress, ReasonSchemaDriftDetected, ReasonDatabaseNewerThanImage,
				ReasonVersionParseError, ReasonDowngradeNotSupported, ReasonUpgradePathInvalid, ReasonUpgradeTargetChanged,
				ReasonExpandInProgress, ReasonExpandFailed, ReasonMigrateInProgress, ReasonMigrateFailed, ReasonUpgradeRollingUpdate,
				ReasonContractInProgress, ReasonContractFailed, ReasonUpgradeStopping, ReasonUpgradeHeld,
				ReasonUpgradeAborting, ReasonUpgradeAbortRefused, vocabulary.ReasonReleaseDiffers,
			},
		},
		{
			Type: ConditionPolicyValidReady, Aggregated: true,
			True:  []string{ReasonPolicyValidationNotRequired, ReasonPolicyValidationPassed},
			False: []string{ReasonPolicyValidationInProgress, ReasonPolicyValidationFailed},
		},
	}
}

func serviceConditions() []vocabulary.Condition {
	return []vocabulary.Condition{
		{
			Type: ConditionDeploymentReady, Aggregated: true,
			True:  []string{ReasonDeploymentReady},
			False: []string{ReasonWaitingForDeployment, ReasonDeploymentStopped, ReasonImagePullFailed},
		},
		{
			Type: ConditionHTTPRouteReady, Aggregated: true,
			True:  []string{ReasonHTTPRouteAccepted, ReasonHTTPRouteNotRequired},
			False: []string{ReasonHTTPRouteNotAccepted, ReasonGatewayAPINotInstalled},
		},
		{
			Type: ConditionKeystoneAPIReady, Aggregated: true,
			True: []string{ReasonAPIHealthy},
			False: []string{
				ReasonProbePending, ReasonEndpointNotReady, ReasonAPIUnhealthy, ReasonHealthCheckTimeout, ReasonConnectionFailed,
				ReasonHealthCheckFailed,
				ReasonLoginPending, ReasonAdminPasswordRefused, ReasonDatabaseUnavailable, ReasonCacheUnavailable,
				ReasonTokenKeysUnusable, ReasonLoginTimeout, ReasonLoginFailed,
			},
		},
		{
			Type: ConditionHPAReady, Aggregated: true,
			True:  []string{ReasonHPAReady, ReasonHPANotRequired},
			False: []string{ReasonHPANotScaling},
		},
		{
			Type: ConditionBootstrapReady, Aggregated: true,
			True:  []string{ReasonBootstrapComplete},
			False: []string{ReasonBootstrapInProgress, ReasonBootstrapFailed},
		},
		{
			Type: ConditionTrustFlushReady, Aggregated: true,
			True:  []string{ReasonTrustFlushReady},
			False: []string{ReasonTrustFlushFailed},
		},
		{
			Type: ConditionPasswordRotationReady, Aggregated: true,
			True: []string{ReasonRotationDisabled, ReasonPasswordRotationConfigured, ReasonAdminPasswordRotated},
			False: []string{
				ReasonAdminPasswordRotationAnnotationInvalid, ReasonAdminPasswordRotationRejected, ReasonAdminPasswordNotDelivered,
				ReasonAdminPasswordWriteNotAllowed, ReasonRotationFailed,
			},
		},
		{
			Type:  ConditionBackupHealthy,
			True:  []string{ReasonKeysBackedUp, ReasonBackupNotConfigured},
			False: []string{ReasonBackupPending, ReasonBackupFailing},
		},
		vocabulary.ReleaseCondition(),
		vocabulary.LoggingCondition(),
	}
}

func summaryConditions() []vocabulary.Condition {
	return append([]vocabulary.Condition{{
		Type:  ConditionReady,
		True:  []string{ReasonAllReady},
		False: []string{ReasonNotAllReady, ReasonInvalidSpec, ReasonDatabaseInUse, ReasonReconcileError, ReasonDeleting},
	}}, vocabulary.Kstatus()...)
}

var normalEvents = []string{
	EventFernetKeysGenerated, EventCredentialKeysGenerated, EventFernetKeysRotated, EventCredentialKeysRotated,
	EventRotationHeld, EventAdminPasswordRotated, EventDatabaseSynced, EventBootstrapComplete,
	EventUpgradeInitiated, EventExpandComplete, EventMigrateComplete, EventDeploymentRolloutComplete, EventUpgradeComplete,
	EventServiceStopped, EventUpgradeAborted,
	EventFinalizingDatabase, EventDatabaseFinalized, EventFinalizingOpenBaoSecrets, EventOpenBaoSecretsFinalized, EventKeysKept,
}

var warningEvents = []string{
	EventDBSyncFailed, EventSchemaDriftDetected, EventDatabaseNewerThanImage, EventExpandFailed, EventMigrateFailed, EventContractFailed,
	EventVersionParseError, EventDowngradeNotSupported, EventUpgradePathInvalid, EventUpgradeTargetChanged, EventUpgradeAbortRefused,
	vocabulary.EventReleaseDiffers,
	EventBootstrapFailed,
	EventRotationAnnotationInvalid, EventRotationRejected, EventCredentialMigrateFailed, EventRotationFailed, EventTrustFlushFailed,
	EventAdminPasswordRotationAnnotationInvalid, EventAdminPasswordRotationRejected,
	EventDBSyncMetricEmissionDeferred,
	EventAdminPasswordNotDelivered, EventAdminPasswordWriteNotAllowed,
	EventBackupFailing, EventESOAdoptionTimedOut, EventOpenBaoFinalizerTimedOut, EventLoggingStderrDisabled,
	EventCacheUnavailable,
}
