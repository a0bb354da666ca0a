package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// reconcileDatabase brings the database to the schema of the image: the
// database and its user when a MariaDB of the cluster holds it, then what the
// image's release means for the installed schema.
func reconcileDatabase(ctx context.Context, s *scope) reconcile.Outcome {
	// The keys may have been made in this pass.
	if _, err := s.keyConnection(ctx); err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	}
	if s.keystone.Spec.Database.IsManaged() {
		if outcome := s.ensureManagedDatabase(ctx); !outcome.IsDone() {
			return outcome
		}
	}
	return s.recordDatabaseJobs(ctx, s.followRelease)
}

func (s *scope) followRelease(ctx context.Context) reconcile.Outcome {
	contracted, err := s.contractedRelease(ctx)
	if err == nil {
		err = s.recoverInstalledRelease(ctx)
	}
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	}
	plan, refusal := planSchema(s.keystone, contracted)
	switch plan {
	case schemaUpgrade:
		return s.upgrade(ctx)
	case schemaAbort:
		return s.abortUpgrade(ctx)
	case schemaSync:
		return s.syncSchema(ctx)
	}
	return refusal
}

// syncSchema installs the schema of the image, or brings it up to date within a
// release, and checks the result.
func (s *scope) syncSchema(ctx context.Context) reconcile.Outcome {
	message := schemaMessage
	contraction, err := s.finishedContraction(ctx)
	running := false
	if err == nil {
		running, err = s.contractionRuns(ctx)
	}
	switch {
	case err != nil:
		return reconcile.Failed(keystonev1alpha1.ReasonDBSyncFailed, err)
	case running:
		return reconcile.Waiting(keystonev1alpha1.ReasonDBSyncInProgress, fmt.Sprintf(
			"Job %s of an upgrade that the status no longer records is still changing the schema", s.Named(taskContract)))
	case s.keystone.Status.ExpandedRelease != "":
		return s.keepExpandedSchema(ctx)
	case contraction != nil:
		message = upgradedMessage(contraction.Annotations[annotationUpgradedFrom], s.keystone.Spec.Image.Tag)
	default:
		if sync := s.runDatabaseTask(ctx, dbSync(s), dbSyncReasons); !sync.IsDone() {
			return sync
		}
	}
	check := s.runDatabaseTask(ctx, schemaCheck(s), schemaCheckReasons)
	switch {
	case check.IsDone():
		return s.acceptSchema(ctx, message)
	case s.keystone.Status.InstalledRelease == "" && check.Err() == nil:
		// Nothing runs yet that a schema which does not fit could harm.
		return check.Proceed()
	}
	return check
}

// acceptSchema records the release of a schema that fits, and gives pods the
// connection that the check of it has proven.
func (s *scope) acceptSchema(ctx context.Context, message string) reconcile.Outcome {
	if promoted := s.promoteConnection(ctx); !promoted.IsDone() {
		return promoted
	}
	outcome := reconcile.Done(keystonev1alpha1.ReasonDatabaseSynced, message)
	if s.keystone.Status.InstalledRelease == "" {
		deploy, err := deployment.Live(ctx, s.Pass)
		switch {
		case err != nil:
			return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
		case deploy == nil || deployment.TagOf(deployment.APIImage(&definition, &deploy.Spec.Template.Spec)) != s.keystone.Spec.Image.Tag:
			// Nothing else would tell which release it was if the image changed now.
			outcome = outcome.AtOnce()
		}
	}
	s.keystone.Status.InstalledRelease = s.keystone.Spec.Image.Tag
	return outcome
}

// finishedContraction is the Job that ended an upgrade to the wanted image, nil
// when the schema has another origin, or may have one by what a user has asked
// for. There is nothing left for db_sync to do then.
func (s *scope) finishedContraction(ctx context.Context) (*batchv1.Job, error) {
	if s.keystone.Annotations[keystonev1alpha1.AnnotationRunAgain] != "" {
		return nil, nil
	}
	live, err := s.Jobs.Find(ctx, s.keystone, s.Named(taskContract))
	if live == nil || err != nil {
		return nil, err
	}
	desired, err := deployment.TaskJob(s.Pass, dbContract(s))
	if err != nil {
		return nil, err
	}
	if succeeded, err := s.Jobs.SucceededFor(ctx, live, desired); !succeeded || err != nil {
		return nil, err
	}
	return live, nil
}

// emptyDatabaseHint is for a database that the aborted upgrade did not expand.
const emptyDatabaseHint = "; if this is not the same database as before, load the previous data into it first"

// keepExpandedSchema leaves alone the schema that an aborted upgrade has
// expanded. The installed release runs on it, but its tools neither know the
// revision nor have anything to add to it.
func (s *scope) keepExpandedSchema(ctx context.Context) reconcile.Outcome {
	live, err := s.Jobs.Find(ctx, s.keystone, s.Named(taskSchemaCheck))
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonDBSyncFailed, err)
	}
	checked, err := deployment.TaskJob(s.Pass, schemaCheck(s))
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonDBSyncFailed, err)
	}
	succeeded, err := s.Jobs.SucceededFor(ctx, live, checked)
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonDBSyncFailed, err)
	}
	if !succeeded {
		if check := s.checkLogin(ctx, emptyDatabaseHint); !check.IsDone() {
			return check
		}
	}
	return s.acceptSchema(ctx, fmt.Sprintf(
		"Database schema fits release %s and also holds what the aborted upgrade to %s may have added",
		s.keystone.Spec.Image.Tag, s.keystone.Status.ExpandedRelease))
}

// taskReasons are the reasons for the states of a database Job. errored, when set, is
// for a tool that could not do its work, as opposed to one with a bad result; activity
// says what the Job does, and hint what can be done besides correcting the cause.
type taskReasons struct{ running, failed, errored, activity, hint string }

var schemaCheckReasons = taskReasons{
	running: keystonev1alpha1.ReasonSchemaCheckInProgress, failed: keystonev1alpha1.ReasonSchemaDriftDetected,
	errored: keystonev1alpha1.ReasonDBSyncFailed, activity: "checking the database schema",
}

// checkResults are the exit codes with which db_sync --check reports a schema
// that is not the image's: expand, migrate or contract is needed
// (https://docs.openstack.org/keystone/latest/cli/). Any other code means that
// it could not look.
var checkResults = []int32{2, 3, 4}

func (r taskReasons) of(err error) string {
	var failed *job.FailedError
	if r.errored != "" && (!errors.As(err, &failed) || !slices.Contains(checkResults, failed.ExitCode)) {
		return r.errored
	}
	return r.failed
}

func (s *scope) runDatabaseTask(ctx context.Context, t deployment.Task, reasons taskReasons) reconcile.Outcome {
	desired, err := deployment.TaskJob(s.Pass, t)
	if err != nil {
		return reconcile.Failed(reasons.failed, err)
	}
	runner := s.runner()
	if s.connection.candidate() {
		runner.RetryAfter = candidateRetry
	}
	state, err := runner.Run(ctx, s.keystone, desired)
	switch {
	case err != nil:
		outcome := reconcile.WriteFailed(reasons.of(err), fmt.Errorf("%s failed: %w%s%s",
			reasons.activity, err, s.databaseHint(err.Error()), reasons.hint))
		if s.connection.candidate() && errors.Is(err, job.ErrJobFailed) {
			return outcome.After(candidateRetry)
		}
		return outcome
	case state.Complete:
		return reconcile.Done(keystonev1alpha1.ReasonDatabaseSynced, "")
	}
	hint := ""
	if state.Waiting != "" {
		hint = s.databaseHint(state.Waiting) + reasons.hint
	}
	return deployment.Await(reasons.running, desired.Name, reasons.activity, state, hint)
}

// schemaCheck also proves a changed connection before any API pod is given it,
// so that a wrong password never replaces a running pod.
func schemaCheck(s *scope) deployment.Task {
	command := "keystone-manage --config-dir=" + configDir + " db_sync --check"
	check := databaseTask(s, taskSchemaCheck, 2, []string{"/bin/sh", "-eu", "-c", command})
	check.RunKey = onRequest(s.keystone, []any{check.RunKey, s.connectionProof()})
	return check
}

// databaseTask is a tool that needs nothing but the database. Its result
// depends on the image and on which database it works on, not on the rest of
// the configuration.
func databaseTask(s *scope, name string, retries int32, command []string) deployment.Task {
	k := s.keystone
	secret, hash := s.taskConnection()
	return deployment.Task{
		Name: name, Container: name, Command: command, Retries: retries,
		Env:         toolVariablesWith(secret),
		Mounts:      append([]deployment.Mount{deployment.ConfigMount(s.Pass)}, databaseTLSMounts(k)...),
		Annotations: map[string]string{annotationConnectionHash: hash},
		RunKey:      []any{image(k), command, databaseAddress(k), k.Spec.Database.Database},
	}
}
