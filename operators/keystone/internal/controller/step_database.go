package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// reconcileDatabase brings the database to the schema of the image: the
// database and its user when a MariaDB of the cluster holds it, then db_sync,
// then a check of the result.
func reconcileDatabase(ctx context.Context, s *scope) reconcile.Outcome {
	if s.keystone.Spec.Database.IsManaged() {
		if outcome := s.ensureManagedDatabase(ctx); !outcome.IsDone() {
			return outcome
		}
	}
	if outcome, refused := refuseRelease(s.keystone); refused {
		return outcome
	}
	sync := s.runDatabaseTask(ctx, dbSync(s), taskReasons{
		running: keystonev1alpha1.ReasonDBSyncInProgress, failed: keystonev1alpha1.ReasonDBSyncFailed,
		does: "installing the database schema",
	})
	if !sync.IsDone() {
		return sync
	}
	check := s.runDatabaseTask(ctx, schemaCheck(s), taskReasons{
		running: keystonev1alpha1.ReasonSchemaCheckInProgress, failed: keystonev1alpha1.ReasonSchemaDriftDetected,
		broken: keystonev1alpha1.ReasonDBSyncFailed, does: "checking the database schema",
	})
	if !check.IsDone() {
		return check
	}
	if promoted := s.promoteConnection(ctx); !promoted.IsDone() {
		return promoted
	}
	s.keystone.Status.InstalledRelease = s.keystone.Spec.Image.Tag
	return reconcile.Done(keystonev1alpha1.ReasonDatabaseSynced, "Database schema is up to date (revision verified)")
}

// taskReasons word what a database Job is doing. broken, when set, is the reason
// of a tool that could not do its work, as opposed to one with a bad result.
type taskReasons struct{ running, failed, broken, does string }

// checkResults are the exit codes with which db_sync --check reports a schema
// that is not the image's: expand, migrate or contract is needed
// (https://docs.openstack.org/keystone/latest/cli/). Any other code means that
// it could not look.
var checkResults = []int32{2, 3, 4}

func (r taskReasons) of(err error) string {
	var failed *job.FailedError
	if r.broken != "" && (!errors.As(err, &failed) || !slices.Contains(checkResults, failed.ExitCode)) {
		return r.broken
	}
	return r.failed
}

func (s *scope) runDatabaseTask(ctx context.Context, t task, reasons taskReasons) reconcile.Outcome {
	desired, err := taskJob(s.keystone, t)
	if err != nil {
		return reconcile.Failed(reasons.failed, err)
	}
	runner := *s.jobs
	if s.connection.candidate() {
		runner.RetryAfter = candidateRetry
	}
	state, err := runner.Run(ctx, s.keystone, desired)
	switch {
	case err != nil:
		outcome := writeError(reasons.of(err), fmt.Errorf("%s failed: %w%s", reasons.does, err, s.databaseHint(err.Error())))
		if s.connection.candidate() && errors.Is(err, job.ErrJobFailed) {
			return outcome.After(candidateRetry)
		}
		return outcome
	case state.Complete:
		return reconcile.Done(keystonev1alpha1.ReasonDatabaseSynced, "")
	}
	return reconcile.Waiting(reasons.running,
		describe(desired.Name, reasons.does, state.Waiting)+s.databaseHint(state.Waiting))
}

// describe words the wait for a Job.
func describe(name, does, obstacle string) string {
	if obstacle != "" {
		return fmt.Sprintf("Job %s is %s, but %s", name, does, obstacle)
	}
	return fmt.Sprintf("Job %s is %s", name, does)
}

func dbSync(s *scope) task {
	return databaseTask(s, "db-sync", 4, manage("db_sync"))
}

// schemaCheck also proves a changed connection before any API pod is given it,
// so that a wrong password never replaces a running pod.
func schemaCheck(s *scope) task {
	command := "keystone-manage --config-dir=" + configDir + " db_sync --check"
	check := databaseTask(s, "schema-check", 2, []string{"/bin/sh", "-eu", "-c", command})
	_, hash := s.taskConnection()
	check.runKey = []any{check.runKey, hash}
	return check
}

// databaseTask is a tool that needs nothing but the database. Its result
// depends on the image and on which database it works on, not on the rest of
// the configuration.
func databaseTask(s *scope, name string, retries int32, command []string) task {
	k := s.keystone
	secret, hash := s.taskConnection()
	return task{
		name: name, container: name, command: command, retries: retries,
		env:         toolVariablesWith(secret),
		mounts:      append([]mount{configMount(s.configMap)}, databaseTLSMounts(k)...),
		annotations: map[string]string{annotationConnectionHash: hash},
		runKey:      []any{image(k), command, databaseAddress(k), k.Spec.Database.Database},
	}
}
