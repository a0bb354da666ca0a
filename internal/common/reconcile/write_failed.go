package reconcile

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/job"
)

const (
	// ObstructionPeriod is how often a name that an object of somebody else has is
	// tried again. The caches of the operators do not show most of those, so that no
	// watch reports when one is deleted.
	ObstructionPeriod = 30 * time.Second
	// refusalPeriod is how often an object that the API server finds invalid is tried
	// again: its rules may have changed with a newer definition of the kind.
	refusalPeriod = 5 * time.Minute
)

// WriteFailed is the outcome of a child that could not be written, or of a Job that
// failed. What lasts until somebody acts is terminal: an object of somebody else, one
// that the API server finds invalid, and a Job that has failed for good. A child of a
// deleted resource of the same name is waited for. Anything else is retried.
func WriteFailed(reason string, err error) Outcome {
	switch {
	case errors.Is(err, apply.ErrPredecessor):
		return Waiting(reason, err.Error())
	case errors.Is(err, apply.ErrNotOwned):
		return Terminal(reason, err).After(ObstructionPeriod)
	case errors.Is(err, job.ErrJobFailed):
		return Terminal(reason, err).After(job.RetryAfter)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return Terminal(reason, err).After(refusalPeriod)
	}
	return Failed(reason, err)
}
