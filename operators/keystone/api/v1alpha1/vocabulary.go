package v1alpha1

import (
	"slices"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Vocabularies returns what each kind of the package says about itself.
func Vocabularies() []vocabulary.Kind {
	prerequisites, serving := vocabulary.ServiceConditions(ConditionKeystoneAPIReady)
	prerequisites = vocabulary.WithKeys(
		vocabulary.WithFalse(prerequisites, vocabulary.ConditionSecretsReady, ReasonWaitingForAdminCredentials), keyConditions()...)
	serving = vocabulary.WithFalse(serving, ConditionKeystoneAPIReady,
		ReasonLoginPending, ReasonAdminPasswordRefused, ReasonDatabaseUnavailable, ReasonCacheUnavailable,
		ReasonTokenKeysUnusable, ReasonLoginTimeout, ReasonLoginFailed)
	return []vocabulary.Kind{{
		Kind: Kind,
		Conditions: slices.Concat(prerequisites, serving, ownConditions(),
			[]vocabulary.Condition{vocabulary.OptionalAttachmentsCondition(ConditionIdentityBackendsReady)},
			[]vocabulary.Condition{vocabulary.ReleaseCondition(), vocabulary.LoggingCondition()},
			vocabulary.Summary(vocabulary.ReasonDatabaseInUse)),
		Events: slices.Concat(vocabulary.ServiceEvents(), vocabulary.KeyEvents(),
			vocabulary.Normal(normalEvents...), vocabulary.Warnings(warningEvents...)),
	}, {
		Kind: KindIdentityBackend, Conditions: vocabulary.VerifiedConditions(), Events: vocabulary.AttachmentEvents(),
	}}
}

func keyConditions() []vocabulary.Condition {
	return []vocabulary.Condition{
		{
			Type: ConditionFernetKeysReady, Aggregated: true,
			True:  []string{ReasonFernetKeysAvailable, ReasonFernetKeysRotated},
			False: []string{vocabulary.ReasonGeneratingKeys, vocabulary.ReasonKeysMissing, ReasonRotationFailed},
		},
		{
			Type: ConditionCredentialKeysReady, Aggregated: true,
			True:  []string{ReasonCredentialKeysAvailable, ReasonCredentialKeysRotated},
			False: []string{vocabulary.ReasonGeneratingKeys, vocabulary.ReasonKeysMissing, ReasonCredentialMigrateFailed, ReasonRotationFailed},
		},
	}
}

func ownConditions() []vocabulary.Condition {
	return []vocabulary.Condition{
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
		vocabulary.BackupCondition(),
	}
}

var normalEvents = []string{
	EventFernetKeysGenerated, EventCredentialKeysGenerated, EventFernetKeysRotated, EventCredentialKeysRotated,
	EventRotationHeld, EventAdminPasswordRotated, EventBootstrapComplete,
}

var warningEvents = []string{
	EventBootstrapFailed,
	EventRotationAnnotationInvalid, EventRotationRejected, EventCredentialMigrateFailed, EventRotationFailed, EventTrustFlushFailed,
	EventAdminPasswordRotationAnnotationInvalid, EventAdminPasswordRotationRejected,
	EventAdminPasswordNotDelivered, EventAdminPasswordWriteNotAllowed,
	EventCacheUnavailable,
}
