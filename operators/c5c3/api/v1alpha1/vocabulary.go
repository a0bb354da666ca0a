package v1alpha1

import (
	"slices"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Vocabularies returns what each kind of the package says about itself.
func Vocabularies() []vocabulary.Kind {
	return []vocabulary.Kind{
		{
			Kind:       "ControlPlane",
			Conditions: slices.Concat(serviceConditions(), credentialConditions(), vocabulary.Summary(ReasonDuplicateControlPlane)),
			Events: append(vocabulary.Normal(vocabulary.EventPaused, vocabulary.EventResumed, vocabulary.EventHibernated,
				EventFinalizingORC, EventORCTeardownComplete),
				vocabulary.Warnings(EventORCTeardownStalled, EventORCObjectsInUse, EventKeystoneTeardownStalled,
					EventBarbicanTeardownStalled, EventPlacementTeardownStalled, EventGlanceTeardownStalled)...),
		},
		{
			Kind:       "CredentialRotation",
			Conditions: rotationConditions(),
			Events:     vocabulary.Normal(vocabulary.EventPaused, vocabulary.EventResumed, EventRotationNudged),
		},
		{
			Kind:       "SecretAggregate",
			Conditions: aggregateConditions(),
			Events:     vocabulary.Normal(vocabulary.EventPaused, vocabulary.EventResumed, EventSecretsAggregated),
		},
	}
}

func serviceConditions() []vocabulary.Condition {
	return []vocabulary.Condition{
		{
			Type: ConditionInfrastructureReady, Aggregated: true,
			True: []string{ReasonInfrastructureReady},
			False: []string{
				ReasonMariaDBNotInstalled, ReasonMariaDBError, ReasonWaitingForDatabase,
				ReasonMemcachedNotInstalled, ReasonMemcachedError, ReasonWaitingForCache,
			},
		},
		{
			Type: ConditionDBCredentialsReady, Aggregated: true,
			True: []string{ReasonDBCredentialsReady, ReasonBrownfieldUserSuppliedCredential},
			False: []string{
				ReasonExternalSecretsNotInstalled, ReasonExternalSecretError, ReasonSecretStoreNotReady, ReasonWaitingForDBCredentialSecret,
			},
		},
		{
			Type: ConditionAdminPasswordReady, Aggregated: true,
			True: []string{ReasonAdminPasswordReady, ReasonBrownfieldUserSuppliedCredential},
			False: []string{
				ReasonExternalSecretsNotInstalled, ReasonExternalSecretError, ReasonSecretStoreNotReady, ReasonWaitingForAdminPasswordSecret,
			},
		},
		{
			Type: ConditionRestoreReady, Aggregated: true,
			True: []string{ReasonNoRestoreRequested, ReasonRestored},
			False: []string{
				ReasonWaitingForInfrastructure, ReasonWaitingForEncryptionKey, ReasonCheckingBackup, ReasonRestoring,
				ReasonRestoreRefused, ReasonRestoreFailed, ReasonRestoreError,
			},
		},
		{
			Type: ConditionKeystoneReady, Aggregated: true,
			True: []string{ReasonKeystoneReady, ReasonKeystoneNotManaged},
			False: []string{
				ReasonWaitingForInfrastructure, ReasonKeystoneNotInstalled, ReasonKeystoneError,
				ReasonKeystoneProjectionRejected, ReasonRollBackRefused, ReasonWaitingForKeystone,
				ReasonFinalizingKeystone,
			},
		},
	}
}

func credentialConditions() []vocabulary.Condition {
	return []vocabulary.Condition{
		{
			Type: ConditionKORCReady, Aggregated: true,
			True: []string{ReasonApplicationCredentialMinted, ReasonKeystoneNotManaged},
			False: []string{
				ReasonWaitingForKeystone, ReasonKORCNotInstalled, ReasonWaitingForAdminPassword, ReasonAdminPasswordError,
				ReasonPasswordCloudError, ReasonAdminImportError, ReasonSecretError, ReasonSeedCloudsYamlError, ReasonPushSecretError,
				ReasonExternalSecretError, ReasonApplicationCredentialError, ReasonApplicationCredentialFailed,
				ReasonWaitingForApplicationCredential, ReasonReMinting, ReasonReMintStalled, ReasonExternalSecretsNotInstalled,
				ReasonBootstrapResourceError, ReasonWaitingForBootstrapResources, ReasonFinalizingORC,
				ReasonORCObjectsInUse,
			},
		},
		{
			Type: ConditionAdminCredentialReady, Aggregated: true,
			True: []string{ReasonAdminCredentialReady, ReasonKeystoneNotManaged},
			False: []string{
				ReasonWaitingForKORC, ReasonSecretStoreNotReady, ReasonCloudsYamlError, ReasonWaitingForCloudsYaml,
				ReasonCredentialUnproven, ReasonCredentialRejected, ReasonSecretError, ReasonPushSecretError,
				ReasonWaitingForPushSecret, ReasonWaitingForCloudsYamlSync, ReasonCloudsYamlSyncStuck,
			},
		},
		userServiceCondition(ConditionBarbicanReady, []string{ReasonBarbicanReady, ReasonBarbicanNotManaged}, ReasonBarbicanNotInstalled,
			ReasonBarbicanError, ReasonBarbicanProjectionRejected, ReasonWaitingForBarbican, ReasonFinalizingBarbican),
		userServiceCondition(ConditionPlacementReady, []string{ReasonPlacementReady, ReasonPlacementNotManaged}, ReasonPlacementNotInstalled,
			ReasonPlacementError, ReasonPlacementProjectionRejected, ReasonWaitingForPlacement, ReasonFinalizingPlacement),
		userServiceCondition(ConditionGlanceReady, []string{ReasonGlanceReady, ReasonGlanceNotManaged}, ReasonGlanceNotInstalled,
			ReasonGlanceError, ReasonGlanceProjectionRejected, ReasonWaitingForGlance, ReasonFinalizingGlance),
		{
			Type: ConditionHorizonReady, Aggregated: true,
			True: []string{ReasonHorizonReady, ReasonHorizonNotManaged},
			False: []string{
				ReasonWaitingForKeystone, ReasonHorizonNotInstalled, ReasonHorizonError, ReasonHorizonProjectionRejected,
				ReasonWaitingForHorizon,
			},
		},
		{
			Type: ConditionCatalogReady, Aggregated: true,
			True: []string{ReasonCatalogRegistered, ReasonKeystoneNotManaged},
			False: []string{
				ReasonWaitingForAdminCredential, ReasonServiceError, ReasonEndpointError, ReasonWaitingForCatalog, ReasonCatalogFailed,
				ReasonEndpointRegionError,
			},
		},
		{
			Type: ConditionIdentityBackendsReady,
			True: []string{ReasonIdentityBackendsReady, ReasonNoIdentityBackends, ReasonKeystoneNotManaged},
			False: []string{
				ReasonKeystoneNotInstalled, ReasonIdentityBackendError, ReasonWaitingForIdentityBackends,
			},
		},
		backupCondition(),
	}
}

func backupCondition() vocabulary.Condition {
	return vocabulary.Condition{
		Type: ConditionBackupReady,
		True: []string{ReasonBackedUp, ReasonBackupScheduled, ReasonBackupNotConfigured, ReasonKeystoneNotManaged},
		False: []string{
			ReasonWaitingForInfrastructure, ReasonWaitingForKeystone, ReasonWaitingForEncryptionKey, ReasonEncryptionKeyInvalid,
			ReasonRestoring, ReasonStoringBackupKeys, ReasonBackupKeysNotStored, ReasonReplacingBackup, ReasonBackupFailed, ReasonBackupError,
		},
	}
}

// userServiceCondition is the condition of a service with a database and a user of its own.
func userServiceCondition(condition string, fine []string, notFine ...string) vocabulary.Condition {
	return vocabulary.Condition{
		Type: condition, Aggregated: true,
		True: fine,
		False: append([]string{
			ReasonWaitingForKeystone, ReasonRollBackRefused,
			ReasonWaitingForServiceUser, ReasonServiceUserError, ReasonServiceUserUnproven, ReasonServiceUserRejected,
		}, notFine...),
	}
}

func rotationConditions() []vocabulary.Condition {
	return append([]vocabulary.Condition{{
		Type: vocabulary.ConditionReady,
		True: []string{ReasonRotationTriggered, ReasonRotationScheduled, ReasonNoRotationNeeded, ReasonBootstrapComplete},
		False: []string{
			ReasonUnsupportedTarget, ReasonNoControlPlane, ReasonAmbiguousControlPlane, ReasonControlPlaneListError,
			ReasonWaitingForBootstrap, ReasonWaitingForApplicationCredential, ReasonWaitingForAdminPassword,
			ReasonRotationModeNotScheduled, vocabulary.ReasonInvalidSpec, vocabulary.ReasonReconcileError,
		},
	}}, vocabulary.Abnormal(ReasonUnsupportedTarget, ReasonAmbiguousControlPlane, ReasonRotationModeNotScheduled)...)
}

func aggregateConditions() []vocabulary.Condition {
	stalled := []string{ReasonAmbiguousControlPlane, ReasonKeyCollision, ReasonSecretError}
	return append([]vocabulary.Condition{{
		Type: vocabulary.ConditionReady,
		True: []string{ReasonSecretsAggregated},
		False: slices.Concat([]string{
			ReasonNoControlPlane, ReasonWaitingForSecrets, vocabulary.ReasonInvalidSpec, vocabulary.ReasonReconcileError,
		}, stalled),
	}}, vocabulary.Abnormal(stalled...)...)
}
