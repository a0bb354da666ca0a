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

// reconcilePolicyValidation lets the image check the policy overrides before
// any API pod gets to see them.
func reconcilePolicyValidation(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	desired, err := deployment.TaskJob(s.Pass, policyValidationTask(s))
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonPolicyValidationFailed, err)
	}
	if k.Spec.PolicyOverrides == nil {
		absent := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: desired.Name, Namespace: desired.Namespace}}
		if err := apply.EnsureAbsent(ctx, s.Client, k, absent); err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
		}
		return reconcile.Done(keystonev1alpha1.ReasonPolicyValidationNotRequired, "spec.policyOverrides is not set")
	}
	state, err := s.runner().Run(ctx, k, desired)
	switch {
	case errors.Is(err, job.ErrJobFailed):
		return reconcile.WriteFailed(keystonev1alpha1.ReasonPolicyValidationFailed,
			fmt.Errorf("the policy overrides are not valid, correct them: %w", err))
	case err != nil:
		return reconcile.WriteFailed(keystonev1alpha1.ReasonPolicyValidationFailed, err)
	case !state.Complete:
		return deployment.Await(keystonev1alpha1.ReasonPolicyValidationInProgress, desired.Name, "checking the policy overrides", state, "")
	}
	return reconcile.Done(keystonev1alpha1.ReasonPolicyValidationPassed, "The policy overrides are valid")
}

// policyValidationTask depends on the rules, which are part of the configuration,
// and on the image that knows the rules' names.
func policyValidationTask(s *scope) deployment.Task {
	return deployment.Task{
		Name: "policy-validation", Container: "validator", Retries: 2,
		Command: []string{"oslopolicy-validator", "--namespace", "keystone", "--config-dir", configDir},
		Mounts:  []deployment.Mount{deployment.ConfigMount(s.Pass)},
		RunKey:  deployment.ConfigKey(s.Pass),
	}
}
