package reconcile

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// actionName is the machine-readable action of an event: the step that acted.
func (r stepResult) actionName() string {
	if r.name == "" {
		return "Validate"
	}
	return r.name
}

// lostRace reports whether the step failed only because an object changed
// between its read and its write.
func (r stepResult) lostRace() bool {
	return r.outcome.verdict == verdictFailed && apierrors.IsConflict(r.outcome.err)
}

func (r stepResult) announces() bool {
	return slices.Contains(r.announce, r.outcome.reason)
}

// changed reports whether this pass moved the step's condition to the step's
// outcome. Both sides come from the status, so that a restarted operator emits no
// event twice.
func changed(previous, current []metav1.Condition, result stepResult) bool {
	now := meta.FindStatusCondition(current, result.condition)
	if now == nil || now.Reason != result.outcome.reason {
		return false
	}
	then := meta.FindStatusCondition(previous, result.condition)
	return then == nil || then.Status != now.Status || then.Reason != now.Reason
}

// isNews reports whether this pass moved the step's condition to the step's
// outcome, including its message.
func isNews(previous, current []metav1.Condition, result stepResult) bool {
	now := meta.FindStatusCondition(current, result.condition)
	if now == nil || now.Reason != result.outcome.reason || now.Message != shorten(result.outcome.message, maxMessage) {
		return false
	}
	then := meta.FindStatusCondition(previous, result.condition)
	return then == nil || then.Status != now.Status || then.Reason != now.Reason || then.Message != now.Message
}
