package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// abortUpgrade takes back an upgrade. Its Jobs have to be gone, pods included,
// before anything else may work on the schema. What they have added stays: the
// old release is unaffected, and its pods replace those of the new one.
func (s *scope) abortUpgrade(ctx context.Context) reconcile.Outcome {
	status := &s.keystone.Status
	for _, t := range []deployment.Task{dbExpand(s), dbMigrate(s), dbContract(s)} {
		job, err := deployment.TaskJob(s.Pass, t)
		gone := false
		if err == nil {
			gone, err = s.Jobs.Remove(ctx, s.keystone, job)
		}
		if err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonUpgradeAborting, err)
		}
		if !gone {
			return reconcile.Waiting(keystonev1alpha1.ReasonUpgradeAborting, fmt.Sprintf(
				"The upgrade from %s to %s is being aborted: waiting for Job %s to end", status.InstalledRelease, status.TargetRelease, job.Name))
		}
	}
	note := fmt.Sprintf("The upgrade from %s to %s was aborted in phase %s",
		status.InstalledRelease, status.TargetRelease, status.UpgradePhase)
	status.TargetRelease, status.UpgradePhase = "", ""
	return s.syncSchema(ctx).OnRecord(corev1.EventTypeNormal, keystonev1alpha1.EventUpgradeAborted, note)
}
