package schema

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// abortUpgrade aborts an upgrade. Its Jobs, including their pods, must be gone before
// anything else may work on the schema. Objects that they added to the schema stay: the
// old release is unaffected by them, and its pods replace those of the new one.
func (w *work) abortUpgrade(ctx context.Context) (message string, err error) {
	status := w.Status
	for _, t := range []deployment.Task{w.expandTask(), w.migrateTask(), w.contractTask()} {
		job, err := deployment.TaskJob(w.Pass, t)
		gone := false
		if err == nil {
			gone, err = w.Jobs.Remove(ctx, w.Resource, job)
		}
		if err != nil {
			return "", reconcile.WithReason(vocabulary.ReasonUpgradeAborting, err)
		}
		if !gone {
			return "", reconcile.WaitError(vocabulary.ReasonUpgradeAborting, fmt.Sprintf(
				"The upgrade from %s to %s is being aborted: waiting for Job %s to end", status.InstalledRelease, status.TargetRelease, job.Name))
		}
	}
	note := fmt.Sprintf("The upgrade from %s to %s was aborted in phase %s",
		status.InstalledRelease, status.TargetRelease, status.UpgradePhase)
	status.TargetRelease, status.UpgradePhase = "", ""
	w.record(vocabulary.EventUpgradeAborted, note)
	return w.syncSchema(ctx)
}
