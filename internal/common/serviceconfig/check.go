package serviceconfig

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// ReconcileCheck runs a Job in which the image reads the configuration before any API pod
// gets it. Without options from the user there is nothing that could be malformed, so no
// Job runs.
func (s Settings[S]) ReconcileCheck(ctx context.Context, scope S) reconcile.Outcome {
	p := scope.ServicePass()
	if !s.isWritten(scope) {
		return withoutCheck(ctx, p)
	}
	desired, err := deployment.TaskJob(p, s.CheckTask(scope))
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonConfigError, err)
	}
	if err := deployment.Inherit(ctx, p, desired, s.wasChecked(scope)); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonConfigError, err)
	}
	return runCheck(ctx, p, desired, s.written(scope))
}

// checkTask is the name of the task in which the image reads the configuration.
const checkTask = "config-check"

// withoutCheck removes the Job of an earlier check when there is nothing to check any more.
func withoutCheck(ctx context.Context, p *service.Pass) reconcile.Outcome {
	absent := &batchv1.Job{ObjectMeta: p.Meta(p.Named(checkTask))}
	if err := apply.EnsureAbsent(ctx, p.Client, p.Resource, absent); err != nil {
		return reconcile.Failed(vocabulary.ReasonConfigError, err)
	}
	return service.SecretsAvailable()
}

// runCheck runs the Job. written names the fields in which users set options.
func runCheck(ctx context.Context, p *service.Pass, desired *batchv1.Job, written string) reconcile.Outcome {
	state, err := service.Runner(p).Run(ctx, p.Resource, desired)
	switch {
	case errors.Is(err, job.ErrJobFailed):
		return reconcile.WriteFailed(vocabulary.ReasonConfigError,
			fmt.Errorf("the image cannot read the options of %s, correct them: %w", written, err))
	case err != nil:
		return reconcile.WriteFailed(vocabulary.ReasonConfigError, err)
	case !state.Complete:
		return deployment.Await(vocabulary.ReasonConfigCheckInProgress, desired.Name, "reading the configuration", state, "")
	}
	return service.SecretsAvailable()
}

// isWritten reports whether users have set any option or filter.
func (s Settings[S]) isWritten(scope S) bool {
	_, filtered := s.filters(scope)
	return len(s.options(scope)) > 0 || scope.ServicePass().Options.ExtraConfigSecretRef != nil || filtered
}

// options returns the options that users have set outside of Secrets.
func (s Settings[S]) options(scope S) ini.File {
	given := scope.ServicePass().Options
	return ini.File(given.GlobalExtraConfig).Merge(s.plugins(scope), given.ExtraConfig)
}

// given returns these options with the one that users choose in spec.cache.
func (s Settings[S]) given(scope S) ini.File {
	backend, set := service.Config.Value(scope.ServicePass().Slots).Options["cache"]["backend"]
	if !set {
		return s.options(scope)
	}
	return s.options(scope).Merge(ini.File{"cache": {"backend": backend}})
}

// filters returns the value of the field for filters, and whether there is any filter.
func (s Settings[S]) filters(scope S) (value any, filtered bool) {
	if s.Filters == nil {
		return nil, false
	}
	return s.Filters.Value(scope)
}

// wasChecked returns whether the check of version 0.8.0, which did not look at filters, has
// found in its files what users have written now.
func (s Settings[S]) wasChecked(scope S) func(files map[string]string) bool {
	return func(files map[string]string) bool {
		had, err := ini.Parse(files[s.File])
		_, filtered := s.filters(scope)
		return err == nil && !filtered && reflect.DeepEqual(had.Merge(), had.Merge(s.given(scope)))
	}
}

// written names the fields in which users set options.
func (s Settings[S]) written(scope S) string {
	fields := []string{fieldExtraConfig, fieldSecretRef}
	if len(scope.ServicePass().Options.GlobalExtraConfig) > 0 {
		fields = append(fields, "spec.globalExtraConfig")
	}
	if s.Plugins != nil {
		fields = append(fields, s.Plugins.Field)
	}
	if s.Filters != nil {
		fields = append(fields, s.Filters.Field)
	}
	last := len(fields) - 1
	return strings.Join(fields[:last], ", ") + " or " + fields[last]
}

// CheckTask builds the task of the check. It runs again when what users have written changes,
// or the image, which defines the options.
func (s Settings[S]) CheckTask(scope S) deployment.Task {
	p := scope.ServicePass()
	filters, _ := s.filters(scope)
	return deployment.Task{
		Name: checkTask, Container: checkTask, Retries: 1,
		Command: []string{"python3", p.ConfigDir + CheckFile, p.ConfigDir},
		Env:     p.Environment,
		Mounts:  []deployment.Mount{deployment.ConfigMount(p)},
		RunKey:  deployment.GivenKey(p, []any{s.given(scope), filters}),
	}
}
