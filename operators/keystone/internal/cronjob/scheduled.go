package cronjob

import (
	"context"
	"fmt"
	"time"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
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

// Check returns an error if the last Job of the CronJob failed or cannot start. Otherwise
// it returns the requeue delay, zero to wait for a watch.
func Check(ctx context.Context, s *pass.Scope, of Schedule) (again time.Duration, err error) {
	name := s.Resource.Name + "-" + of.Name
	last, err := service.Runner(s.Pass).LastRun(ctx, s.Key(name), of.Name, pass.Definition.TaskLabels(s.Resource.Name, of.Name))
	switch {
	case err != nil:
		return 0, err
	case last.Job == "":
		return last.Again, nil
	}
	return 0, reconcile.TerminalError(of.Failed, lastRunError(s, name, of.Does, last)).Within(last.Again)
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
