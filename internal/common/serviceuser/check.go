package serviceuser

import (
	"context"
	"errors"
	"fmt"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Reconcile runs a Job that logs in as the service user and validates a token before any
// API pod gets that user, so that a user whom the Identity service rejects never replaces
// a working one.
func Reconcile(ctx context.Context, p *service.Pass) reconcile.Outcome {
	desired, err := deployment.TaskJob(p, checkTask(p))
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonServiceUserRefused, err)
	}
	runner := service.Runner(p)
	// Another version of the operator, which changes the configuration that the Job mounts, tries
	// no password that the Identity service has refused.
	runner.KeyOnly = true
	state, err := runner.Run(ctx, p.Resource, desired)
	switch {
	case errors.Is(err, job.ErrJobFailed):
		return reconcile.WriteFailed(vocabulary.ReasonServiceUserRefused, fmt.Errorf(
			"the user of spec.serviceUserSecretRef cannot validate tokens at %s; correct the Secret, the user, spec.identity or spec.image: %w",
			userOf(p).Identity.AuthURL, err))
	case err != nil:
		return reconcile.WriteFailed(vocabulary.ReasonServiceUserRefused, err)
	case !state.Complete:
		return deployment.Await(vocabulary.ReasonServiceUserCheckInProgress,
			desired.Name, "validating a token as the service user", state, "")
	}
	return reconcile.Done(vocabulary.ReasonServiceUserAccepted, "The service user may validate tokens")
}

// checkTask builds the task of the check. It runs again when the user or the Identity
// service changes. It also runs again for another image, in which the options may have
// another meaning.
func checkTask(p *service.Pass) deployment.Task {
	return deployment.Task{
		Name: "service-user-check", Container: "service-user-check", Retries: 1,
		Command: []string{"python3", p.ConfigDir + checkFile, p.ConfigDir},
		Env:     p.Environment,
		Mounts:  []deployment.Mount{deployment.ConfigMount(p)},
		RunKey:  []any{p.Spec.Image.Reference(), service.Config.Value(p.Slots).Given, userOf(p).Identity},
	}
}
