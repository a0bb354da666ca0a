package reconcile

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/c5c3/forge/internal/common/apply"
)

const (
	// ObstructionPeriod is the retry interval while a foreign object has the name that a
	// child needs. The operators do not cache most foreign objects, so no watch reports
	// their deletion.
	ObstructionPeriod = 30 * time.Second
	// refusalPeriod is the retry interval for an object that the API server rejects as
	// invalid: a newer definition of the kind may have other rules.
	refusalPeriod = 5 * time.Minute
)

// Lasting is an error that stays the same until its cause is removed, such as that of a Job
// that has failed permanently.
type Lasting interface {
	error
	// RetryAfter is the retry interval.
	RetryAfter() time.Duration
}

// WriteFailed returns the outcome for a child that could not be written, or for a failed
// Job. Errors that last until the user acts are terminal: a foreign object, an object
// that the API server rejects as invalid, and [Lasting] ones. If the child belongs to a
// deleted predecessor, the outcome waits for its deletion. Anything else is reported as
// [Failed] does.
func WriteFailed(reason string, err error) Outcome {
	outcome := Failed(reason, err)
	lasting, lasts := errors.AsType[Lasting](err)
	switch {
	case outcome.verdict != verdictFailed:
	case errors.Is(err, apply.ErrPredecessor):
		return Waiting(reason, err.Error())
	case errors.Is(err, apply.ErrNotOwned):
		return Terminal(reason, err).After(ObstructionPeriod)
	case lasts:
		return Terminal(reason, err).After(lasting.RetryAfter())
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return Terminal(reason, err).After(refusalPeriod)
	}
	return outcome
}
