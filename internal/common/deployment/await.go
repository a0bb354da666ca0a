package deployment

import (
	"fmt"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
)

// Await returns the outcome of waiting for a Job. The hint on how to resolve the wait is
// appended to the message.
func Await(reason, name, does string, state job.State, hint string) reconcile.Outcome {
	message := fmt.Sprintf("Job %s is %s", name, does)
	if state.Waiting != "" {
		message += ", but " + state.Waiting
	}
	return reconcile.Waiting(reason, message+hint).After(state.Again)
}
