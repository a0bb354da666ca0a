package schema

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// abortUpgrade aborts an upgrade. Its Jobs, including their pods, must be gone before
// anything else may work on the schema. Objects that they added to the schema stay: the
// old release is unaffected by them, and its pods replace those of the new one. An offline
// upgrade that only stops pods has no such Jobs.
func (w *work) abortUpgrade(ctx context.Context) (message string, err error) {
	status := w.Status
	tasks := []deployment.Task{w.expandTask(), w.migrateTask(), w.contractTask()}
	if status.UpgradePhase == commonv1.UpgradePhaseStopping {
		tasks = nil
	}
	for _, t := range tasks {
		if err := w.endTask(ctx, t); err != nil {
			return "", reconcile.WithReason(vocabulary.ReasonUpgradeAborting, err)
		}
	}
	note := fmt.Sprintf("The upgrade from %s to %s was aborted in phase %s",
		status.InstalledRelease, status.TargetRelease, status.UpgradePhase)
	status.TargetRelease, status.UpgradePhase = "", ""
	w.record(vocabulary.EventUpgradeAborted, note)
	return w.syncSchema(ctx)
}

// endTask removes the Job of a task, and returns an error until it has ended.
func (w *work) endTask(ctx context.Context, t deployment.Task) error {
	job, err := deployment.TaskJob(w.Pass, t)
	if err != nil {
		return err
	}
	gone, err := w.Jobs.Remove(ctx, w.Resource, job)
	if err != nil || gone {
		return err
	}
	return reconcile.WaitError("", fmt.Sprintf("The upgrade from %s to %s is being aborted: waiting for Job %s to end",
		w.Status.InstalledRelease, w.Status.TargetRelease, job.Name))
}
