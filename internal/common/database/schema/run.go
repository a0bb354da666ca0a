package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/image"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// taskReasons are the reasons for the states of a database Job. errored, if set, applies
// when the tool itself failed, rather than reporting a bad result. activity describes the
// Job, and hint is what the user can do apart from fixing the cause.
type taskReasons struct{ running, failed, errored, activity, hint string }

// unknownRevision is what Alembic reports about a database whose revision is none of the
// image's, as after an upgrade to a later release.
const unknownRevision = "Can't locate revision"

// newerHint returns what to do about a database that is newer than the image, if the output
// of a tool says that it is.
func (w *work) newerHint(output string) string {
	if !strings.Contains(output, unknownRevision) {
		return ""
	}
	return fmt.Sprintf("; the database is of a later release than "+imageTag+" %[1]s: set "+imageTag+" to that release or a later one, "+
		"or restore a backup of the database that fits %[1]s", w.Spec.Image.Tag)
}

// reasonOf returns the reason for a failed task.
func (w *work) reasonOf(r taskReasons, err error) string {
	var failed *job.FailedError
	if errors.As(err, &failed) && w.newerHint(failed.Text) != "" {
		return vocabulary.ReasonDatabaseNewerThanImage
	}
	if r.errored != "" && (!errors.As(err, &failed) || !slices.Contains(w.CheckResults, failed.ExitCode)) {
		return r.errored
	}
	return r.failed
}

// unfitImage reports whether the image has failed a task before its tool has started.
func unfitImage(err error) bool {
	var failed *job.FailedError
	return errors.As(err, &failed) && failed.ExitCode == image.Unfit
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
	runner, candidate := service.Runner(w.Pass), w.access().Candidate()
	if candidate {
		runner.RetryAfter = candidateRetry
	}
	state, err := runner.Run(ctx, w.Resource, desired)
	if err != nil {
		reason := w.reasonOf(reasons, err)
		if w.Status.UpgradePhase == "" && unfitImage(err) {
			reasons.hint = "" // It is about the database.
		}
		err = fmt.Errorf("%s failed: %w%s%s%s%s", reasons.activity, err,
			w.Database.Hint(w.Pass, err.Error()), w.newerHint(err.Error()), reasons.hint, w.recheckHint(t.Name))
		if candidate && errors.Is(err, job.ErrJobFailed) {
			return reconcile.TerminalError(reason, err).After(candidateRetry)
		}
		return reconcile.WithReason(reason, err)
	}
	if state.Complete {
		return reconcile.WithReason(vocabulary.ReasonReconcileError, w.recordImage(ctx, state.Job))
	}
	w.checking = t.Name == TaskCheck
	reason, hint := reasons.running, ""
	if state.Waiting != "" {
		newer := w.newerHint(state.Waiting)
		if newer != "" {
			reason = vocabulary.ReasonDatabaseNewerThanImage
		}
		hint = w.Database.Hint(w.Pass, state.Waiting) + newer + reasons.hint
	}
	return deployment.Unfinished(reason, desired.Name, reasons.activity, state, hint)
}

func (w *work) runCheck(ctx context.Context) error {
	return w.runTask(ctx, w.checkTask(), taskReasons{
		running: vocabulary.ReasonSchemaCheckInProgress, failed: vocabulary.ReasonSchemaDriftDetected,
		errored: vocabulary.ReasonDBSyncFailed, activity: "checking the database schema",
	})
}

var syncReasons = taskReasons{
	running: vocabulary.ReasonDBSyncInProgress, failed: vocabulary.ReasonDBSyncFailed,
	activity: "installing the database schema",
}

// checkLogin verifies the connection, and that the image has the major version; zero accepts
// any. remedy is what the user can do when the database refuses.
func (w *work) checkLogin(ctx context.Context, major int, remedy string) error {
	return w.runTask(ctx, w.loginTask(major), taskReasons{
		running: vocabulary.ReasonSchemaCheckInProgress, failed: vocabulary.ReasonDBSyncFailed,
		activity: "checking the database connection", hint: remedy,
	})
}
