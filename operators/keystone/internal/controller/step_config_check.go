package controller

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// reconcileConfigCheck lets the image read the configuration before any API
// pod gets to see it. Only what users write themselves can be malformed.
func reconcileConfigCheck(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	desired, err := deployment.TaskJob(s.Pass, configCheckTask(s))
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonConfigError, err)
	}
	if len(k.Spec.ExtraConfig) == 0 && k.Spec.ExtraConfigSecretRef == nil && len(k.Spec.Plugins) == 0 {
		absent := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: desired.Name, Namespace: desired.Namespace}}
		if err := apply.EnsureAbsent(ctx, s.Client, k, absent); err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonConfigError, err)
		}
		return reconcile.Done(keystonev1alpha1.ReasonSecretsAvailable, "All referenced Secrets are available")
	}
	state, err := s.Runner().Run(ctx, k, desired)
	switch {
	case errors.Is(err, job.ErrJobFailed):
		return reconcile.WriteFailed(keystonev1alpha1.ReasonConfigError,
			fmt.Errorf("the image cannot read the options of spec.extraConfig, spec.extraConfigSecretRef or spec.plugins, correct them: %w", err))
	case err != nil:
		return reconcile.WriteFailed(keystonev1alpha1.ReasonConfigError, err)
	case !state.Complete:
		return deployment.Await(keystonev1alpha1.ReasonConfigCheckInProgress, desired.Name, "reading the configuration", state, "")
	}
	return reconcile.Done(keystonev1alpha1.ReasonSecretsAvailable, "All referenced Secrets are available")
}

// configCheckTask depends on the configuration and on the image that knows the
// options.
func configCheckTask(s *scope) deployment.Task {
	return deployment.Task{
		Name: "config-check", Container: "config-check", Retries: 1,
		Command: []string{"python3", configDir + configCheckFile, configDir},
		Env:     definition.Environment,
		Mounts:  []deployment.Mount{deployment.ConfigMount(s.Pass)},
		RunKey:  deployment.ConfigKey(s.Pass),
	}
}
