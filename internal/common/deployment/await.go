package deployment

import (
	"fmt"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
)

// Unfinished is the error while a Job is not complete. The hint on how to resolve the wait
// is appended to the message.
func Unfinished(reason, name, does string, state job.State, hint string) error {
	message := fmt.Sprintf("Job %s is %s", name, does)
	if state.Waiting != "" {
		message += ", but " + state.Waiting
	}
	return reconcile.WaitError(reason, message+hint).After(state.Again)
}

// Await is [Unfinished] for a step.
func Await(reason, name, does string, state job.State, hint string) reconcile.Outcome {
	return reconcile.Failed(reason, Unfinished(reason, name, does, state, hint))
}
