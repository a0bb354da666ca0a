package schema

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// upgradeOffline takes an instance to a later release, however many releases that skips:
// its pods are stopped, the database is migrated, and then pods of the new release start.
// Nothing is stopped before the new image has logged in to the database, nor, since the
// Deployment step stops the pods, before that image has accepted the configuration. As in
// [work.upgrade], a pass acts on the phase in the status and at most records the next one.
func (w *work) upgradeOffline(ctx context.Context) (message string, err error) {
	switch w.Status.UpgradePhase {
	case commonv1.UpgradePhaseStopping:
		w.proceed = true
		return "", w.stop(ctx)
	case commonv1.UpgradePhaseSyncing:
		message, err = w.migrateOffline(ctx)
		// The Deployment step keeps the pods stopped until then.
		w.proceed = err != nil
		return message, err
	}
	return "", w.initiateOffline(ctx)
}

// initiateOffline records the target once the new image can be used with the database.
func (w *work) initiateOffline(ctx context.Context) error {
	status, from, to := w.Status, w.Status.InstalledRelease, w.Spec.Image.Tag
	err := w.runTask(ctx, w.reachTask(), taskReasons{
		running: vocabulary.ReasonSchemaCheckInProgress, failed: vocabulary.ReasonDBSyncFailed,
		activity: "trying the image of " + to + " before the offline upgrade", hint: w.abortHint(),
	})
	if err != nil {
		return err
	}
	status.TargetRelease, status.UpgradePhase = to, commonv1.UpgradePhaseStopping
	note := fmt.Sprintf("Upgrading offline from %s to %s: the API is down until the database is migrated, and once that has begun, "+
		"the only way back is a restore of a database backup", from, to)
	w.record(vocabulary.EventUpgradeInitiated, note)
	return reconcile.WaitError(vocabulary.ReasonUpgradeStopping, note)
}

// stop waits until nothing runs any more that uses the database. The Deployment step and
// those of CronJobs, which see the phase, stop it.
func (w *work) stop(ctx context.Context) error {
	from, to := w.Status.InstalledRelease, w.Status.TargetRelease
	running, err := w.running(ctx)
	switch {
	case err != nil:
		return reconcile.WithReason(vocabulary.ReasonUpgradeStopping, err)
	case running != "":
		return reconcile.WaitError(vocabulary.ReasonUpgradeStopping, fmt.Sprintf(
			"The offline upgrade from %s to %s waits until %s has stopped%s", from, to, running, w.abortHint()))
	case w.Resource.GetAnnotations()[commonv1.AnnotationHoldUpgrade] == to:
		return reconcile.WaitError(vocabulary.ReasonUpgradeHeld, fmt.Sprintf(
			"The API is stopped for the offline upgrade from %s to %s, which continues when the annotation %s is removed%s",
			from, to, commonv1.AnnotationHoldUpgrade, w.abortHint()))
	}
	return w.setPhase(commonv1.UpgradePhaseSyncing, vocabulary.ReasonDBSyncInProgress, vocabulary.EventServiceStopped, "The API is stopped")
}

// migrateOffline brings the database to the new release. From its first Job on, there is
// no way back but a restore.
func (w *work) migrateOffline(ctx context.Context) (message string, err error) {
	status, from, to := w.Status, w.Status.InstalledRelease, w.Status.TargetRelease
	hint := "; going back to " + from + " takes a restore of a database backup"
	if err := w.mayMigrateOffline(ctx); err != nil {
		return "", reconcile.WithReason(vocabulary.ReasonDBSyncInProgress, err)
	}
	err = w.runTask(ctx, w.offlineTask(), taskReasons{
		running: vocabulary.ReasonDBSyncInProgress, failed: vocabulary.ReasonDBSyncFailed,
		activity: "migrating the database from " + from + " to " + to, hint: hint,
	})
	if err == nil && !w.SyncMigrates && w.Migrate != nil {
		err = w.runTask(ctx, w.migrateTask(), taskReasons{
			running: vocabulary.ReasonMigrateInProgress, failed: vocabulary.ReasonMigrateFailed,
			activity: "migrating the data from " + from + " to " + to, hint: hint,
		})
	}
	if err == nil {
		err = w.runCheck(ctx)
	}
	if err == nil {
		err = w.accept(ctx)
	}
	if err != nil {
		return "", err
	}
	status.TargetRelease, status.UpgradePhase, status.ExpandedRelease = "", "", ""
	w.record(vocabulary.EventUpgradeComplete, fmt.Sprintf("The database is upgraded from %s to %s", from, to))
	return upgradedMessage(from, to), nil
}

// mayMigrateOffline returns an error if something runs again before the migration has
// begun. After that, the pods of the new release may run: the operator before this one may
// have started them.
func (w *work) mayMigrateOffline(ctx context.Context) error {
	desired, err := deployment.TaskJob(w.Pass, w.offlineTask())
	if err != nil {
		return err
	}
	live, err := w.Jobs.FindOurs(ctx, w.Resource, desired)
	if err != nil || live != nil && tagOfJob(live) == w.Status.TargetRelease {
		return err
	}
	running, err := w.running(ctx)
	if err != nil || running == "" {
		return err
	}
	return reconcile.WaitError("", fmt.Sprintf("The database is migrated from %s to %s as soon as %s has stopped",
		w.Status.InstalledRelease, w.Status.TargetRelease, running))
}

// upgradedOffline returns the release from which an offline upgrade has brought the schema
// to that of the image, "" if the schema has another origin.
func (w *work) upgradedOffline(ctx context.Context) (from string, err error) {
	live, err := w.Jobs.Find(ctx, w.Resource, w.Named(TaskSync))
	if live == nil || err != nil {
		return "", err
	}
	return live.Annotations[annotationUpgradedFrom], nil
}
