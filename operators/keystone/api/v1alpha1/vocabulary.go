package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// ConditionDoc tells which reasons a condition has. What a reason means to the
// user stands once, at its constant.
//
// +kubebuilder:object:generate=false
type ConditionDoc struct {
	// Type is the condition's type.
	Type string
	// Aggregated tells whether Ready needs this condition to be True.
	Aggregated bool
	// True and False are the reasons the condition has with that status.
	True, False []string
}

// EventDoc tells whether an event reports a problem.
//
// +kubebuilder:object:generate=false
type EventDoc struct {
	// Reason is the event's reason.
	Reason string
	// Type is Normal or Warning.
	Type string
}

// Conditions returns all conditions of a Keystone, in the order in which they
// become True, with all their reasons. Two reasons belong to every condition
// and are listed with Ready only: ReasonReconcileError and ReasonInvalidSpec.
func Conditions() []ConditionDoc {
	return append(append(prerequisiteConditions(), serviceConditions()...), summaryConditions()...)
}

func prerequisiteConditions() []ConditionDoc {
	return []ConditionDoc{
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
				ReasonDBSyncInProgress, ReasonDBSyncFailed, ReasonSchemaCheckInProgress, ReasonSchemaDriftDetected,
				ReasonVersionParseError, ReasonDowngradeNotSupported, ReasonUpgradePathInvalid, ReasonUpgradeTargetChanged,
				ReasonExpandInProgress, ReasonExpandFailed, ReasonMigrateInProgress, ReasonMigrateFailed, ReasonUpgradeRollingUpdate,
				ReasonContractInProgress, ReasonContractFailed, ReasonUpgradeAborting, ReasonUpgradeAbortRefused,
			},
		},
		{
			Type: ConditionPolicyValidReady, Aggregated: true,
			True:  []string{ReasonPolicyValidationNotRequired, ReasonPolicyValidationPassed},
			False: []string{ReasonPolicyValidationInProgress, ReasonPolicyValidationFailed},
		},
	}
}

func serviceConditions() []ConditionDoc {
	return []ConditionDoc{
		{
			Type: ConditionDeploymentReady, Aggregated: true,
			True:  []string{ReasonDeploymentReady},
			False: []string{ReasonWaitingForDeployment, ReasonImagePullFailed},
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
			True: []string{ReasonHPAReady, ReasonHPANotRequired},
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
		{
			Type:  ConditionLoggingHealthy,
			True:  []string{ReasonStderrEnabled},
			False: []string{ReasonStderrDisabled},
		},
	}
}

func summaryConditions() []ConditionDoc {
	return []ConditionDoc{
		{
			Type:  ConditionReady,
			True:  []string{ReasonAllReady},
			False: []string{ReasonNotAllReady, ReasonInvalidSpec, ReasonDatabaseInUse, ReasonReconcileError, ReasonDeleting},
		},
		{Type: ConditionReconciling, True: []string{ReasonProgressing}},
		{Type: ConditionStalled, True: []string{ReasonInvalidSpec}},
	}
}

// Events returns all events of a Keystone.
func Events() []EventDoc {
	return append(eventsOfType(corev1.EventTypeNormal, normalEvents), eventsOfType(corev1.EventTypeWarning, warningEvents)...)
}

func eventsOfType(eventType string, reasons []string) []EventDoc {
	docs := make([]EventDoc, 0, len(reasons))
	for _, reason := range reasons {
		docs = append(docs, EventDoc{Reason: reason, Type: eventType})
	}
	return docs
}

var normalEvents = []string{
	EventFernetKeysGenerated, EventCredentialKeysGenerated, EventFernetKeysRotated, EventCredentialKeysRotated,
	EventRotationHeld, EventAdminPasswordRotated, EventDatabaseSynced, EventBootstrapComplete,
	EventUpgradeInitiated, EventExpandComplete, EventMigrateComplete, EventDeploymentRolloutComplete, EventUpgradeComplete,
	EventUpgradeAborted,
	EventFinalizingDatabase, EventDatabaseFinalized, EventFinalizingOpenBaoSecrets, EventOpenBaoSecretsFinalized, EventKeysKept,
}

var warningEvents = []string{
	EventDBSyncFailed, EventSchemaDriftDetected, EventExpandFailed, EventMigrateFailed, EventContractFailed,
	EventVersionParseError, EventDowngradeNotSupported, EventUpgradePathInvalid, EventUpgradeTargetChanged, EventUpgradeAbortRefused,
	EventBootstrapFailed,
	EventRotationAnnotationInvalid, EventRotationRejected, EventCredentialMigrateFailed, EventRotationFailed, EventTrustFlushFailed,
	EventAdminPasswordRotationAnnotationInvalid, EventAdminPasswordRotationRejected,
	EventDBSyncMetricEmissionDeferred,
	EventAdminPasswordNotDelivered, EventAdminPasswordWriteNotAllowed,
	EventBackupFailing, EventESOAdoptionTimedOut, EventOpenBaoFinalizerTimedOut, EventLoggingStderrDisabled,
}
