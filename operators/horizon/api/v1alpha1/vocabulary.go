package v1alpha1

import (
	"slices"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Vocabularies returns what each kind of the package says about itself.
func Vocabularies() []vocabulary.Kind {
	prerequisites, serving := vocabulary.StatelessConditions(ConditionHorizonAPIReady)
	return []vocabulary.Kind{{
		Kind: Kind,
		Conditions: slices.Concat([]vocabulary.Condition{{
			Type: ConditionSecretKeyReady, Aggregated: true,
			True: []string{ReasonSecretKeyAvailable},
			False: []string{
				ReasonWaitingForSecretKey, ReasonSecretKeyInvalid, ReasonSecretKeyMissing,
			},
		}}, prerequisites, serving, vocabulary.Summary()),
		Events: vocabulary.StatelessEvents(),
	}}
}
