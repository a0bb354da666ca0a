package schema

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// syncSchema installs the schema of the image, or updates it within a release, and checks
// the result.
func (w *work) syncSchema(ctx context.Context) (message string, err error) {
	message = schemaMessage
	upgraded, err := w.finishedUpgrade(ctx)
	running := false
	if err == nil {
		running, err = w.contractionRuns(ctx)
	}
	switch {
	case err != nil:
		return "", err
	case running:
		return "", reconcile.WaitError(vocabulary.ReasonDBSyncInProgress, fmt.Sprintf(
			"Job %s of an upgrade that the status no longer records is still changing the schema", w.Named(TaskContract)))
	case w.Status.ExpandedRelease != "":
		return w.keepExpandedSchema(ctx)
	case upgraded != nil:
		message = upgradedMessage(upgraded.Annotations[annotationUpgradedFrom], w.Spec.Image.Tag)
	default:
		if err := w.runTask(ctx, w.syncTask(), syncReasons); err != nil {
			return "", err
		}
		if from, err := w.upgradedOffline(ctx); err != nil {
			return "", err
		} else if from != "" {
			message = upgradedMessage(from, w.Spec.Image.Tag)
		}
	}
	if err := w.runCheck(ctx); err != nil {
		// During the first installation nothing is running yet that an unsuitable schema
		// could harm.
		w.proceed = w.Status.InstalledRelease == "" && reconcile.IsWait(err) || w.recheck.harmless
		return "", err
	}
	return message, w.accept(ctx)
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
func (w *work) keepExpandedSchema(ctx context.Context) (message string, err error) {
	live, err := w.Jobs.Find(ctx, w.Resource, w.Named(TaskCheck))
	if err != nil {
		return "", err
	}
	checked, err := deployment.TaskJob(w.Pass, w.checkTask())
	if err != nil {
		return "", err
	}
	succeeded, err := w.Jobs.SucceededFor(ctx, live, checked)
	if err == nil && !succeeded {
		err = w.checkLogin(ctx, w.requiredMajor(), emptyDatabaseHint)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Database schema fits release %s and also holds what the aborted upgrade to %s may have added",
		w.Spec.Image.Tag, w.Status.ExpandedRelease), w.accept(ctx)
}
