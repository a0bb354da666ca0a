package policy

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// ReconcileValidation validates the policy overrides with the image before any
// API pod gets them.
func ReconcileValidation(ctx context.Context, p *service.Pass) reconcile.Outcome {
	desired, err := deployment.TaskJob(p, ValidationTask(p))
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonPolicyValidationFailed, err)
	}
	if p.Options.PolicyOverrides == nil {
		absent := &batchv1.Job{ObjectMeta: p.Meta(desired.Name)}
		if err := apply.EnsureAbsent(ctx, p.Client, p.Resource, absent); err != nil {
			return reconcile.Failed(vocabulary.ReasonReconcileError, err)
		}
		return reconcile.Done(vocabulary.ReasonPolicyValidationNotRequired, "spec.policyOverrides is not set")
	}
	given := service.Config.Value(p.Slots).Policy
	err = deployment.Inherit(ctx, p, desired, func(files map[string]string) bool { return files[File] == given })
	if err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonPolicyValidationFailed, err)
	}
	state, err := service.Runner(p).Run(ctx, p.Resource, desired)
	switch {
	case errors.Is(err, job.ErrJobFailed):
		return reconcile.WriteFailed(vocabulary.ReasonPolicyValidationFailed,
			fmt.Errorf("the policy overrides are not valid, correct them: %w", err))
	case err != nil:
		return reconcile.WriteFailed(vocabulary.ReasonPolicyValidationFailed, err)
	case !state.Complete:
		return deployment.Await(vocabulary.ReasonPolicyValidationInProgress, desired.Name, "checking the policy overrides", state, "")
	}
	return reconcile.Done(vocabulary.ReasonPolicyValidationPassed, "The policy overrides are valid")
}

// File is the name of the file with the rules among those of the configuration.
const File = "policy.yaml"

// ValidationTask validates the rules. It runs again when the rules change, options about
// them, or the image, which knows the names of rules.
func ValidationTask(p *service.Pass) deployment.Task {
	return deployment.Task{
		Name: "policy-validation", Container: "validator", Retries: 2,
		Command: []string{"oslopolicy-validator", "--namespace", p.CodeName, "--config-dir", p.ConfigDir},
		Mounts:  []deployment.Mount{deployment.ConfigMount(p)},
		RunKey: deployment.GivenKey(p, []any{
			service.Config.Value(p.Slots).Policy, ini.File(p.Options.GlobalExtraConfig).Merge(p.Options.ExtraConfig)["oslo_policy"],
		}),
	}
}
