package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func (w *work) followRelease(ctx context.Context) reconcile.Outcome {
	contracted, err := w.contractedRelease(ctx)
	if err == nil {
		err = w.recoverInstalledRelease(ctx)
	}
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	plan, err := planSchema(w.Spec.Image.Tag, w.Status, contracted)
	switch plan {
	case schemaUpgrade:
		return w.upgrade(ctx)
	case schemaAbort:
		return w.abortUpgrade(ctx)
	case schemaSync:
		return w.syncSchema(ctx)
	}
	return reconcile.Failed(vocabulary.ReasonReconcileError, err)
}

// syncSchema installs the schema of the image, or updates it within a release, and checks
// the result.
func (w *work) syncSchema(ctx context.Context) reconcile.Outcome {
	message := schemaMessage
	upgraded, err := w.finishedUpgrade(ctx)
	running := false
	if err == nil {
		running, err = w.contractionRuns(ctx)
	}
	switch {
	case err != nil:
		return reconcile.Failed(vocabulary.ReasonDBSyncFailed, err)
	case running:
		return reconcile.Waiting(vocabulary.ReasonDBSyncInProgress, fmt.Sprintf(
			"Job %s of an upgrade that the status no longer records is still changing the schema", w.Named(TaskContract)))
	case w.Status.ExpandedRelease != "":
		return w.keepExpandedSchema(ctx)
	case upgraded != nil:
		message = upgradedMessage(upgraded.Annotations[annotationUpgradedFrom], w.Spec.Image.Tag)
	default:
		if err := w.runTask(ctx, w.syncTask(), syncReasons); err != nil {
			return reconcile.Failed(vocabulary.ReasonDBSyncFailed, err)
		}
	}
	err = w.runCheck(ctx)
	switch {
	case err == nil:
		return w.acceptSchema(ctx, message)
	case w.Status.InstalledRelease == "" && reconcile.IsWait(err):
		// Nothing is running yet that an unsuitable schema could harm.
		return reconcile.Failed(vocabulary.ReasonDBSyncFailed, err).Proceed()
	}
	return reconcile.Failed(vocabulary.ReasonDBSyncFailed, err)
}

// acceptSchema accepts a schema that was not upgraded.
func (w *work) acceptSchema(ctx context.Context, message string) reconcile.Outcome {
	outcome := reconcile.Done(vocabulary.ReasonDatabaseSynced, message)
	if w.Status.InstalledRelease == "" {
		deploy, err := deployment.Live(ctx, w.Pass)
		switch {
		case err != nil:
			return reconcile.Failed(vocabulary.ReasonReconcileError, err)
		case deploy == nil || deployment.TagOf(deployment.APIImage(w.Definition, &deploy.Spec.Template.Spec)) != w.Spec.Image.Tag:
			// If the image changed now, nothing else would record which release it was.
			outcome = outcome.AtOnce()
		}
	}
	if err := w.accept(ctx); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonSecretInvalid, err)
	}
	return outcome
}

// accept records the release of a schema that passed the check, and promotes the
// connection that the check has verified.
func (w *work) accept(ctx context.Context) error {
	if err := w.Database.Promote(ctx, w.Pass); err != nil {
		return err
	}
	w.Status.InstalledRelease, w.accepted = w.Spec.Image.Tag, true
	return nil
}

// finishedUpgrade returns the Job that completed an upgrade to the wanted image. It
// returns nil if the schema has another origin, or may have one because the user
// requested another run. With such a Job, db_sync has nothing to do.
func (w *work) finishedUpgrade(ctx context.Context) (*batchv1.Job, error) {
	if w.Resource.GetAnnotations()[w.RunAgain] != "" {
		return nil, nil
	}
	last := w.lastTask()
	live, err := w.Jobs.Find(ctx, w.Resource, w.Named(last.Name))
	if live == nil || err != nil {
		return nil, err
	}
	desired, err := deployment.TaskJob(w.Pass, last)
	if err != nil {
		return nil, err
	}
	if succeeded, err := w.Jobs.SucceededFor(ctx, live, desired); !succeeded || err != nil {
		return nil, err
	}
	return live, nil
}

// emptyDatabaseHint applies if the database is not the one that the aborted upgrade
// expanded.
const emptyDatabaseHint = "; if this is not the same database as before, load the previous data into it first"

// keepExpandedSchema keeps the schema that an aborted upgrade has expanded. The installed
// release works with it, but its tools do not know the revision and have nothing to add.
func (w *work) keepExpandedSchema(ctx context.Context) reconcile.Outcome {
	live, err := w.Jobs.Find(ctx, w.Resource, w.Named(TaskCheck))
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonDBSyncFailed, err)
	}
	checked, err := deployment.TaskJob(w.Pass, w.checkTask())
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonDBSyncFailed, err)
	}
	succeeded, err := w.Jobs.SucceededFor(ctx, live, checked)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonDBSyncFailed, err)
	}
	if !succeeded {
		if err := w.checkLogin(ctx, emptyDatabaseHint); err != nil {
			return reconcile.Failed(vocabulary.ReasonDBSyncFailed, err)
		}
	}
	return w.acceptSchema(ctx, fmt.Sprintf(
		"Database schema fits release %s and also holds what the aborted upgrade to %s may have added",
		w.Spec.Image.Tag, w.Status.ExpandedRelease))
}

// taskReasons are the reasons for the states of a database Job. errored, if set, applies
// when the tool itself failed, rather than reporting a bad result. activity describes the
// Job, and hint is what the user can do apart from fixing the cause.
type taskReasons struct{ running, failed, errored, activity, hint string }

// reasonOf returns the reason for a failed task.
func (w *work) reasonOf(r taskReasons, err error) string {
	var failed *job.FailedError
	if r.errored != "" && (!errors.As(err, &failed) || !slices.Contains(w.CheckResults, failed.ExitCode)) {
		return r.errored
	}
	return r.failed
}

func (w *work) runCheck(ctx context.Context) error {
	return w.runTask(ctx, w.checkTask(), taskReasons{
		running: vocabulary.ReasonSchemaCheckInProgress, failed: vocabulary.ReasonSchemaDriftDetected,
		errored: vocabulary.ReasonDBSyncFailed, activity: "checking the database schema",
	})
}

// candidateRetry is the delay before a changed connection that the database refused is
// tried again. The server may learn about a new password later than the Secret, and from
// that moment pods cannot open connections with the old one.
const candidateRetry = time.Minute

// runTask returns an error until the task has succeeded.
func (w *work) runTask(ctx context.Context, t deployment.Task, reasons taskReasons) error {
	desired, err := deployment.TaskJob(w.Pass, t)
	if err != nil {
		return reconcile.WithReason(reasons.failed, err)
	}
	runner, candidate := w.Runner(), w.access().Candidate()
	if candidate {
		runner.RetryAfter = candidateRetry
	}
	state, err := runner.Run(ctx, w.Resource, desired)
	if err != nil {
		reason := w.reasonOf(reasons, err)
		err = fmt.Errorf("%s failed: %w%s%s", reasons.activity, err, w.Database.Hint(w.Pass, err.Error()), reasons.hint)
		if candidate && errors.Is(err, job.ErrJobFailed) {
			return reconcile.TerminalError(reason, err).After(candidateRetry)
		}
		return reconcile.WithReason(reason, err)
	}
	if state.Complete {
		return nil
	}
	w.checking = t.Name == TaskCheck
	hint := ""
	if state.Waiting != "" {
		hint = w.Database.Hint(w.Pass, state.Waiting) + reasons.hint
	}
	return deployment.Unfinished(reasons.running, desired.Name, reasons.activity, state, hint)
}

// access returns how Jobs and pods log in to the database in this pass.
func (w *work) access() *database.Access { return database.Connection.Value(w.Slots) }
