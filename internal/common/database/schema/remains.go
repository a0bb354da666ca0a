package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// oldAPIPod returns the name of an API pod with another image than the wanted one, "" if
// there is none.
func (w *work) oldAPIPod(ctx context.Context) (string, error) {
	list, err := deployment.APIPods(ctx, w.Pass)
	for i := range list {
		if old := deployment.APIImage(w.Definition, &list[i].ObjectMeta, &list[i].Spec); old != "" && old != w.Spec.Image.Reference() {
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
		if w.runsInstalled(&list[i].ObjectMeta, &list[i].Spec) {
			return "pod " + list[i].Name, nil
		}
	}
	cronJobs, err := w.cronJobs(ctx)
	for i := range cronJobs {
		if template := &cronJobs[i].Spec.JobTemplate.Spec.Template; w.runsInstalled(&template.ObjectMeta, &template.Spec) {
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

// runsInstalled reports whether a pod, or one with the template, uses the image of the
// installed release. Those of an earlier operator do not have the annotation.
func (w *work) runsInstalled(meta *metav1.ObjectMeta, spec *corev1.PodSpec) bool {
	installed := func(reference string) bool {
		return reference != w.Spec.Image.Reference() && commonv1.TagOf(reference) == w.Status.InstalledRelease
	}
	if requested := meta.Annotations[apply.RequestedImage]; requested != "" {
		return installed(requested)
	}
	return slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool {
		return installed(c.Image)
	})
}

// recoverInstalledRelease restores a lost status, for instance after a restore from a
// backup. Without it a change of the release would look like a first installation, which
// contracts the schema under running pods. Pods with another tag than the wanted one
// reveal which release is installed.
func (w *work) recoverInstalledRelease(ctx context.Context) error {
	if w.Status.InstalledRelease != "" && !isDigest(w.Status.InstalledRelease) {
		return nil
	}
	w.Status.InstalledRelease = ""
	list, err := deployment.APIPods(ctx, w.Pass)
	if err != nil {
		return err
	}
	templates := make([]corev1.PodTemplateSpec, 0, len(list)+1)
	for i := range list {
		templates = append(templates, corev1.PodTemplateSpec{ObjectMeta: list[i].ObjectMeta, Spec: list[i].Spec})
	}
	live, err := deployment.Live(ctx, w.Pass)
	if err != nil {
		return err
	}
	if live != nil {
		templates = append(templates, live.Spec.Template)
	}
	for i := range templates {
		tag := commonv1.TagOf(deployment.APIImage(w.Definition, &templates[i].ObjectMeta, &templates[i].Spec))
		if tag != "" && tag != w.Spec.Image.Tag {
			w.Status.InstalledRelease = tag
			return nil
		}
	}
	return nil
}

// digestLength is the number of digits of a SHA-256 digest.
const digestLength = 64

// isDigest reports whether a release is the digest of an image, which an earlier operator
// recorded where a policy of the cluster replaced the tag.
func isDigest(recorded string) bool {
	return len(recorded) == digestLength && strings.Trim(recorded, "0123456789abcdef") == ""
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
	template := &live.Spec.Template
	return commonv1.TagOf(apply.ImageOf(&template.ObjectMeta, &template.Spec.Containers[0]))
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
