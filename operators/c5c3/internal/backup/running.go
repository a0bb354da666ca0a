package backup

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/job"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// Running returns a Job of a backup or a restore that has not ended, "" if there is none.
func Running(ctx context.Context, c client.Reader, cp *c5c3v1alpha1.ControlPlane) (string, error) {
	var jobs batchv1.JobList
	if err := c.List(ctx, &jobs, client.InNamespace(cp.Namespace), client.MatchingLabels(controlplane.Labels(cp))); err != nil {
		return "", fmt.Errorf("listing the Jobs of backups: %w", err)
	}
	for i := range jobs.Items {
		if ended, _, _ := job.Ended(&jobs.Items[i]); !ended {
			return "Job " + jobs.Items[i].Name + " has not ended", nil
		}
	}
	return "", nil
}
