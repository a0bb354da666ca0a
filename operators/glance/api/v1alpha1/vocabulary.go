package v1alpha1

import (
	"slices"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Vocabularies returns what each kind of the package says about itself.
func Vocabularies() []vocabulary.Kind {
	prerequisites, serving := vocabulary.ServiceConditions(ConditionGlanceAPIReady)
	return []vocabulary.Kind{{
		Kind: Kind,
		Conditions: slices.Concat(vocabulary.WithServiceUser(prerequisites), serving,
			[]vocabulary.Condition{vocabulary.AttachmentsCondition(ConditionBackendsReady), vocabulary.CleanUpCondition()},
			[]vocabulary.Condition{vocabulary.ReleaseCondition(), vocabulary.LoggingCondition()},
			vocabulary.Summary(vocabulary.ReasonDatabaseInUse)),
		Events: append(vocabulary.ServiceEvents(), vocabulary.Warnings(vocabulary.EventCleanUpFailed)...),
	}, {
		Kind: KindBackend, Conditions: vocabulary.AttachmentConditions(), Events: vocabulary.AttachmentEvents(),
	}}
}
