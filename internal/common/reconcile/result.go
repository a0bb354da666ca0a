package reconcile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// stepResult is what one pass knows about one step.
type stepResult struct {
	name      string
	condition string
	announce  []string
	outcome   Outcome
	// skipped names the first unmet need if the step was blocked, and
	// heldBack is the reason that the step declares for that case.
	skipped, heldBack string
	informational     bool
}

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

// namespaceGoes reports whether the step failed only because its namespace is
// being deleted. The API server no longer creates anything there, including events,
// and the resource itself is about to be deleted.
func (r stepResult) namespaceGoes() bool {
	return r.outcome.failed() && apierrors.HasStatusCause(r.outcome.err, corev1.NamespaceTerminatingCause)
}
