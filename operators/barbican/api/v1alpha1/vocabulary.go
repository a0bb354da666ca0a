package v1alpha1

import (
	"slices"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Vocabularies returns what each kind of the package says about itself.
func Vocabularies() []vocabulary.Kind {
	prerequisites, serving := vocabulary.ServiceConditions(ConditionBarbicanAPIReady)
	prerequisites = vocabulary.WithServiceUser(vocabulary.WithKeys(prerequisites, keyCondition()))
	return []vocabulary.Kind{{
		Kind: Kind,
		Conditions: slices.Concat(prerequisites, serving, []vocabulary.Condition{
			vocabulary.AttachmentsCondition(ConditionSecretStoresReady), vocabulary.CleanUpCondition(), vocabulary.BackupCondition(),
			vocabulary.ReleaseCondition(), vocabulary.LoggingCondition(),
		}, vocabulary.Summary(vocabulary.ReasonDatabaseInUse)),
		Events: slices.Concat(vocabulary.ServiceEvents(), vocabulary.KeyEvents(),
			vocabulary.Normal(EventKeyGenerated, EventKeyRotated), vocabulary.Warnings(EventKeyRewrapFailed, vocabulary.EventCleanUpFailed)),
	}, {
		Kind: KindStore, Conditions: vocabulary.AttachmentConditions(), Events: vocabulary.AttachmentEvents(),
	}}
}

func keyCondition() vocabulary.Condition {
	return vocabulary.Condition{
		Type: ConditionKeyReady, Aggregated: true,
		True: []string{ReasonKeyAvailable, ReasonKeyRotationInProgress},
		False: []string{
			vocabulary.ReasonGeneratingKeys, vocabulary.ReasonKeysMissing, ReasonKeyRotationRefused, ReasonKeyRewrapFailed,
		},
	}
}
