package v1alpha1

import "github.com/c5c3/forge/internal/common/vocabulary"

// Vocabularies returns what each kind of the package says about itself.
func Vocabularies() []vocabulary.Kind {
	prerequisites, serving := vocabulary.ServiceConditions(ConditionPlacementAPIReady)
	secrets := &prerequisites[0]
	secrets.False = append(secrets.False, ReasonWaitingForServiceUser)
	conditions := append(prerequisites, vocabulary.Condition{
		Type: ConditionServiceUserReady, Aggregated: true,
		True:  []string{ReasonServiceUserAccepted},
		False: []string{ReasonServiceUserCheckInProgress, ReasonServiceUserRefused},
	})
	conditions = append(append(conditions, serving...), vocabulary.LoggingCondition())
	return []vocabulary.Kind{{
		Kind:       Kind,
		Conditions: append(conditions, vocabulary.Summary(vocabulary.ReasonDatabaseInUse)...),
		Events:     vocabulary.ServiceEvents(),
	}}
}
