package schema

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/service"
)

// running names something of the instance that uses the database, or could begin to; it
// returns "" if there is nothing. The Jobs of this package do not count.
func (w *work) running(ctx context.Context) (string, error) {
	for _, look := range []func(context.Context) (string, error){w.runningAPI, w.runningCronJob, w.runningJob, w.oldRelease} {
		if found, err := look(ctx); found != "" || err != nil {
			return found, err
		}
	}
	return "", nil
}

// runningAPI names the Deployment of the API or one of its pods.
func (w *work) runningAPI(ctx context.Context) (string, error) {
	live, err := deployment.Live(ctx, w.Pass)
	if err != nil {
		return "", err
	}
	if live != nil {
		status := live.Status
		if ptr.Deref(live.Spec.Replicas, 1) != 0 || status.ObservedGeneration < live.Generation || status.Replicas != 0 {
			return "Deployment " + live.Name, nil
		}
	}
	pods, err := deployment.APIPods(ctx, w.Pass)
	if err != nil || len(pods) == 0 {
		return "", err
	}
	return "pod " + pods[0].Name, nil
}

// runningCronJob names a CronJob that may start a Job.
func (w *work) runningCronJob(ctx context.Context) (string, error) {
	cronJobs, err := w.cronJobs(ctx)
	for i := range cronJobs {
		if !ptr.Deref(cronJobs[i].Spec.Suspend, false) {
			return "CronJob " + cronJobs[i].Name, nil
		}
	}
	return "", err
}

// runningJob names a Job that has not ended: one of a CronJob, or one of the installed
// release.
func (w *work) runningJob(ctx context.Context) (string, error) {
	var list batchv1.JobList
	err := w.Client.List(ctx, &list, client.InNamespace(w.Resource.GetNamespace()), client.MatchingLabels{
		service.LabelInstance: w.Resource.GetName(), service.LabelManagedBy: w.ManagedBy(),
	})
	if err != nil {
		return "", fmt.Errorf("listing the Jobs: %w", err)
	}
	for i := range list.Items {
		live := &list.Items[i]
		controller := metav1.GetControllerOf(live)
		scheduled := controller != nil && controller.Kind == "CronJob"
		template := &live.Spec.Template
		if ended, _, _ := job.Ended(live); !ended && (scheduled || w.runsInstalled(&template.ObjectMeta, &template.Spec)) {
			return "Job " + live.Name, nil
		}
	}
	return "", nil
}
