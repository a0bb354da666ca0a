package cronjob

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// Schedule describes a CronJob in messages.
type Schedule struct {
	// Name is the suffix of the CronJob and the component of its pods.
	Name string
	// Does says what the Jobs do, as in "rotating the token keys".
	Does string
	// Failed is the reason of the condition if its last Job failed.
	Failed string
}

// Follow returns the outcome of a step whose CronJob is in place, unless the last Job of
// the CronJob failed or cannot start.
func Follow(ctx context.Context, s *pass.Scope, of Schedule, step reconcile.Outcome) reconcile.Outcome {
	if !step.IsDone() {
		return step
	}
	name := s.Keystone.Name + "-" + of.Name
	last, err := s.Runner().LastRun(ctx, s.Key(name), pass.Definition.TaskLabels(s.Keystone.Name, of.Name))
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	}
	if last.Job == "" {
		return step.Within(last.Again)
	}
	outcome := reconcile.Terminal(of.Failed, lastRunError(s, name, of.Does, last)).Within(last.Again)
	for _, event := range step.Events() {
		outcome = outcome.WithEvent(event.Type, event.Reason, event.Note)
	}
	return outcome
}

// lastRunError describes the problem with a Job of the CronJob and how it is resolved.
func lastRunError(s *pass.Scope, cronJob, does string, last job.LastRun) error {
	verb := "cannot start"
	if last.Failed {
		verb = "failed"
	}
	return fmt.Errorf("%s: Job %s %s: %s%s; this clears when a Job of the CronJob succeeds; start one with "+
		"kubectl create job --from=cronjob/%s", does, last.Job, verb, last.Text, pass.Database.Hint(s.Pass, last.Text), cronJob)
}
