package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
)

// oldAPIPod returns the name of an API pod with another image than the wanted one, "" if
// there is none.
func (w *work) oldAPIPod(ctx context.Context) (string, error) {
	list, err := deployment.APIPods(ctx, w.Pass)
	for i := range list {
		if old := deployment.APIImage(w.Definition, &list[i].Spec); old != "" && old != w.Spec.Image.Reference() {
			return list[i].Name, err
		}
	}
	return "", err
}

// oldRelease names a pod or CronJob that runs, or would start, the installed release; it
// returns "" if there is none.
func (w *work) oldRelease(ctx context.Context) (string, error) {
	if pod, err := w.oldAPIPod(ctx); pod != "" || err != nil {
		return "pod " + pod, err
	}
	list, err := deployment.PodsWith(ctx, w.Pass, w.AllTasks(w.Resource.GetName()))
	if err != nil {
		return "", err
	}
	for i := range list {
		if w.runsInstalled(&list[i].Spec) {
			return "pod " + list[i].Name, nil
		}
	}
	cronJobs, err := w.cronJobs(ctx)
	for i := range cronJobs {
		if w.runsInstalled(&cronJobs[i].Spec.JobTemplate.Spec.Template.Spec) {
			return "CronJob " + cronJobs[i].Name, nil
		}
	}
	return "", err
}

func (w *work) cronJobs(ctx context.Context) ([]batchv1.CronJob, error) {
	var list batchv1.CronJobList
	err := w.Client.List(ctx, &list, client.InNamespace(w.Resource.GetNamespace()), client.MatchingLabels(w.Labels(w.Resource.GetName())))
	if err != nil {
		return nil, fmt.Errorf("listing the CronJobs: %w", err)
	}
	return list.Items, nil
}

// runsInstalled reports whether a pod uses the image of the installed release.
func (w *work) runsInstalled(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool {
		return c.Image != w.Spec.Image.Reference() && strings.HasSuffix(c.Image, ":"+w.Status.InstalledRelease)
	})
}

// recoverInstalledRelease restores a lost status, for instance after a restore from a
// backup. Without it a change of the release would look like a first installation, which
// contracts the schema under running pods. Pods with another tag than the wanted one
// reveal which release is installed.
func (w *work) recoverInstalledRelease(ctx context.Context) error {
	if w.Status.InstalledRelease != "" {
		return nil
	}
	list, err := deployment.APIPods(ctx, w.Pass)
	if err != nil {
		return err
	}
	specs := make([]*corev1.PodSpec, 0, len(list)+1)
	for i := range list {
		specs = append(specs, &list[i].Spec)
	}
	live, err := deployment.Live(ctx, w.Pass)
	if err != nil {
		return err
	}
	if live != nil {
		specs = append(specs, &live.Spec.Template.Spec)
	}
	for _, spec := range specs {
		if tag := deployment.TagOf(deployment.APIImage(w.Definition, spec)); tag != "" && tag != w.Spec.Image.Tag {
			w.Status.InstalledRelease = tag
			return nil
		}
	}
	return nil
}

// contractedRelease returns the tag of the latest release to which an upgrade has
// contracted the schema, or migrated it offline, "" if no Job records it. It guards against
// a status that has lost its phase.
func (w *work) contractedRelease(ctx context.Context) (string, error) {
	contracted, err := w.Jobs.Find(ctx, w.Resource, w.Named(TaskContract))
	if err != nil {
		return "", err
	}
	synced, err := w.Jobs.Find(ctx, w.Resource, w.Named(TaskSync))
	if err != nil {
		return "", err
	}
	last := tagOfJob(contracted)
	if synced != nil && synced.Annotations[annotationUpgradedFrom] != "" {
		if tag := tagOfJob(synced); last == "" || isLater(tag, last) {
			last = tag
		}
	}
	return last, nil
}

// tagOfJob returns the image tag of a Job, which may be nil, "" if it has none.
func tagOfJob(live *batchv1.Job) string {
	if live == nil || len(live.Spec.Template.Spec.Containers) == 0 {
		return ""
	}
	return deployment.TagOf(live.Spec.Template.Spec.Containers[0].Image)
}

// contractionRuns reports whether a Job may still be contracting the schema.
func (w *work) contractionRuns(ctx context.Context) (bool, error) {
	desired, err := deployment.TaskJob(w.Pass, w.contractTask())
	if err != nil {
		return false, err
	}
	live, err := w.Jobs.FindOurs(ctx, w.Resource, desired)
	if live == nil || err != nil {
		return false, err
	}
	if ended, _, _ := job.Ended(live); ended {
		return false, nil
	}
	succeeded, err := w.Jobs.SucceededFor(ctx, live, desired)
	return !succeeded, err
}
