package controller

import (
	"context"
	"errors"
	"fmt"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// reconcileServiceUser runs a Job that logs in as the service user and validates a token
// before any API pod gets that user, so that a user whom Keystone rejects never replaces
// a working one.
func reconcileServiceUser(ctx context.Context, p *service.Pass) reconcile.Outcome {
	desired, err := deployment.TaskJob(p, serviceUserTask(p))
	if err != nil {
		return reconcile.Failed(placementv1alpha1.ReasonServiceUserRefused, err)
	}
	state, err := p.Runner().Run(ctx, p.Resource, desired)
	switch {
	case errors.Is(err, job.ErrJobFailed):
		return reconcile.WriteFailed(placementv1alpha1.ReasonServiceUserRefused, fmt.Errorf(
			"the user of spec.serviceUserSecretRef cannot validate tokens at %s; correct the Secret, the user, spec.identity or spec.image: %w",
			placementOf(p.Resource).Spec.Identity.AuthURL, err))
	case err != nil:
		return reconcile.WriteFailed(placementv1alpha1.ReasonServiceUserRefused, err)
	case !state.Complete:
		return deployment.Await(placementv1alpha1.ReasonServiceUserCheckInProgress,
			desired.Name, "validating a token as the service user", state, "")
	}
	return reconcile.Done(placementv1alpha1.ReasonServiceUserAccepted, "The service user may validate tokens")
}

// serviceUserTask builds the task. It runs again when the user or the Identity service
// changes. It also runs again for another image, in which the options may have another
// meaning.
func serviceUserTask(p *service.Pass) deployment.Task {
	return deployment.Task{
		Name: "service-user-check", Container: "service-user-check", Retries: 1,
		Command: []string{"python3", configDir + serviceUserFile, configDir},
		Env:     definition.Environment,
		Mounts:  []deployment.Mount{deployment.ConfigMount(p)},
		RunKey:  []any{p.Image(), service.Config.Value(p.Slots).Secret, placementOf(p.Resource).Spec.Identity},
	}
}
