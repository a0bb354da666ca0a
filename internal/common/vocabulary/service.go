package vocabulary

import "slices"

// ServiceConditions returns the conditions that the resource of every API service
// has, in the order in which they become True: those that precede the use of its
// database, and those of its API. The kind adds its own reasons and conditions.
func ServiceConditions(api string) (prerequisites, serving []Condition) {
	prerequisites = []Condition{
		{
			Type: ConditionSecretsReady, Aggregated: true,
			True: []string{ReasonSecretsAvailable},
			False: []string{
				ReasonSecretStoreNotReady, ReasonWaitingForDBCredentials, ReasonSecretInvalid,
				ReasonWaitingForExtraConfig, ReasonWaitingForPodInputs, ReasonConfigError, ReasonConfigCheckInProgress,
			},
		},
		{
			Type: ConditionDatabaseTLSReady, Aggregated: true,
			True:  []string{ReasonNotRequired, ReasonExternallyManaged, ReasonCertificateIssued},
			False: []string{ReasonCertificatePending},
		},
		{
			Type: ConditionNetworkPolicyReady, Aggregated: true,
			True: []string{ReasonNetworkPolicyReady, ReasonNetworkPolicyNotRequired},
		},
		databaseCondition(),
		{
			Type: ConditionPolicyValidReady, Aggregated: true,
			True:  []string{ReasonPolicyValidationNotRequired, ReasonPolicyValidationPassed},
			False: []string{ReasonPolicyValidationInProgress, ReasonPolicyValidationFailed},
		},
	}
	serving = []Condition{
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
			Type: api, Aggregated: true,
			True: []string{ReasonAPIHealthy},
			False: []string{
				ReasonProbePending, ReasonEndpointNotReady, ReasonAPIUnhealthy, ReasonHealthCheckTimeout, ReasonConnectionFailed,
				ReasonHealthCheckFailed,
			},
		},
		{
			Type: ConditionHPAReady, Aggregated: true,
			True:  []string{ReasonHPAReady, ReasonHPANotRequired},
			False: []string{ReasonHPANotScaling},
		},
	}
	return prerequisites, serving
}

// StatelessConditions returns the conditions of [ServiceConditions] that a service without a
// database and without options of oslo.config has.
func StatelessConditions(api string) (prerequisites, serving []Condition) {
	prerequisites, serving = ServiceConditions(api)
	prerequisites = slices.DeleteFunc(prerequisites, func(c Condition) bool {
		return slices.Contains([]string{ConditionDatabaseTLSReady, ConditionDatabaseReady, ConditionPolicyValidReady}, c.Type)
	})
	foreign := []string{ReasonWaitingForDBCredentials, ReasonSecretInvalid, ReasonWaitingForExtraConfig, ReasonDeploymentStopped}
	for _, conditions := range [][]Condition{prerequisites, serving} {
		for n := range conditions {
			conditions[n].False = slices.DeleteFunc(conditions[n].False, func(reason string) bool { return slices.Contains(foreign, reason) })
		}
	}
	return prerequisites, serving
}

// WithFalse adds reasons with which the condition of the type is False.
func WithFalse(conditions []Condition, conditionType string, reasons ...string) []Condition {
	return changed(conditions, conditionType, func(c *Condition) { c.False = slices.Concat(c.False, reasons) })
}

// WithTrue adds a reason with which the condition of the type is True.
func WithTrue(conditions []Condition, conditionType, reason string) []Condition {
	return changed(conditions, conditionType, func(c *Condition) { c.True = append(slices.Clone(c.True), reason) })
}

func changed(conditions []Condition, conditionType string, change func(*Condition)) []Condition {
	all := slices.Clone(conditions)
	for n := range all {
		if all[n].Type == conditionType {
			change(&all[n])
		}
	}
	return all
}

// WithServiceUser adds to the prerequisites of [ServiceConditions] what a service with a
// service user has.
func WithServiceUser(prerequisites []Condition) []Condition {
	return append(WithFalse(prerequisites, ConditionSecretsReady, ReasonWaitingForServiceUser), Condition{
		Type: ConditionServiceUserReady, Aggregated: true,
		True:  []string{ReasonServiceUserAccepted},
		False: []string{ReasonServiceUserCheckInProgress, ReasonServiceUserRefused},
	})
}

func databaseCondition() Condition {
	return Condition{
		Type: ConditionDatabaseReady, Aggregated: true,
		True: []string{ReasonDatabaseSynced},
		False: []string{
			ReasonMariaDBNotInstalled, ReasonClusterNotReady, ReasonWaitingForDatabase,
			ReasonDBSyncInProgress, ReasonDBSyncFailed, ReasonSchemaCheckInProgress, ReasonSchemaDriftDetected, ReasonDatabaseNewerThanImage,
			ReasonVersionParseError, ReasonDowngradeNotSupported, ReasonUpgradePathInvalid, ReasonUpgradeTargetChanged,
			ReasonExpandInProgress, ReasonExpandFailed, ReasonMigrateInProgress, ReasonMigrateFailed, ReasonUpgradeRollingUpdate,
			ReasonContractInProgress, ReasonContractFailed, ReasonUpgradeStopping, ReasonUpgradeHeld,
			ReasonUpgradeAborting, ReasonUpgradeAbortRefused, ReasonReleaseDiffers,
		},
	}
}

// LoggingCondition returns the condition that reports whether log records reach
// standard error. It is only informational.
func LoggingCondition() Condition {
	return Condition{Type: ConditionLoggingHealthy, True: []string{ReasonStderrEnabled}, False: []string{ReasonStderrDisabled}}
}

// ReleaseCondition returns the condition that compares the image with its tag. It is only
// informational.
func ReleaseCondition() Condition {
	return Condition{
		Type: ConditionReleaseConsistent, True: []string{ReasonReleaseMatches, ReasonReleaseUnknown}, False: []string{ReasonReleaseDiffers},
	}
}

// Summary returns Ready, with the given reasons of the kind in addition to the
// common ones, and those that are only present while they are True.
func Summary(notReady ...string) []Condition {
	return append([]Condition{{
		Type: ConditionReady,
		True: []string{ReasonAllReady},
		False: append([]string{
			ReasonNotAllReady, ReasonInvalidSpec, ReasonReconcileError, ReasonDeleting, ReasonHibernating, ReasonHibernated,
		}, notReady...),
	}}, Abnormal()...)
}

// StatelessEvents returns the events that the resource of every API service without a
// database has.
func StatelessEvents() []Event {
	return Normal(EventPaused, EventResumed, EventHibernated, EventDeploymentRolloutComplete)
}

// ServiceEvents returns the events that the resource of every API service has.
func ServiceEvents() []Event {
	return append(Normal(
		EventPaused, EventResumed, EventHibernated,
		EventDatabaseSynced, EventUpgradeInitiated, EventExpandComplete, EventMigrateComplete, EventDeploymentRolloutComplete,
		EventServiceStopped,
		EventUpgradeComplete, EventUpgradeAborted, EventFinalizingDatabase, EventDatabaseFinalized,
	), Warnings(
		EventDBSyncFailed, EventSchemaDriftDetected, EventDatabaseNewerThanImage, EventExpandFailed, EventMigrateFailed, EventContractFailed,
		EventVersionParseError, EventDowngradeNotSupported, EventUpgradePathInvalid, EventUpgradeTargetChanged, EventUpgradeAbortRefused,
		EventReleaseDiffers, EventDBSyncMetricEmissionDeferred, EventLoggingStderrDisabled,
	)...)
}

// BackupCondition returns the condition that reports whether the secret store has copies of
// the keys of a service. It is only informational.
func BackupCondition() Condition {
	return Condition{
		Type:  ConditionBackupHealthy,
		True:  []string{ReasonKeysBackedUp, ReasonBackupNotConfigured},
		False: []string{ReasonBackupPending, ReasonBackupFailing},
	}
}

// KeyEvents returns the events of a service with keys that cannot be made again.
func KeyEvents() []Event {
	return append(Normal(EventFinalizingOpenBaoSecrets, EventOpenBaoSecretsFinalized, EventKeysKept),
		Warnings(EventBackupFailing, EventESOAdoptionTimedOut, EventOpenBaoFinalizerTimedOut)...)
}

// WithKeys adds to the prerequisites of [ServiceConditions] what a service with keys that
// cannot be made again has, and the conditions of the keys, in the order in which the message of
// Ready lists them.
func WithKeys(prerequisites []Condition, keys ...Condition) []Condition {
	all := WithFalse(prerequisites, ConditionSecretsReady, ReasonOpenBaoFinalizerBlocked, ReasonWaitingForESOAdoption)
	network := slices.IndexFunc(all, func(c Condition) bool { return c.Type == ConditionNetworkPolicyReady })
	return slices.Insert(all, network, keys...)
}

// CleanUpCondition returns the condition of a service with a CronJob that removes from the
// database what users have deleted.
func CleanUpCondition() Condition {
	return Condition{Type: ConditionCleanUpReady, Aggregated: true, True: []string{ReasonCleanUpReady}, False: []string{ReasonCleanUpFailed}}
}
