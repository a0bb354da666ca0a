package job

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/poddiag"
)

// SucceededAnnotation on a Job is the time at which the operator saw that its container
// had succeeded while another one, which a mesh or an agent has added to the pod, went on
// running. Such a Job never completes, and its deadline would make it a failed one.
const SucceededAnnotation = "forge.c5c3.io/succeeded-at"

// leaveOut is what to do about containers that are added to the pods of Jobs.
const leaveOut = "exclude the pods of Jobs from whatever adds containers to pods"

// Containers returns the names of the containers that a Job was given.
func Containers(job *batchv1.Job) []string {
	names := make([]string, 0, len(job.Spec.Template.Spec.Containers))
	for i := range job.Spec.Template.Spec.Containers {
		names = append(names, job.Spec.Template.Spec.Containers[i].Name)
	}
	return names
}

// record records that the container of the Job has succeeded.
func (r *Runner) record(ctx context.Context, live *batchv1.Job) error {
	before := live.DeepCopy()
	metav1.SetMetaDataAnnotation(&live.ObjectMeta, SucceededAnnotation, r.now().UTC().Format(time.RFC3339))
	return apply.MergeUnlocked(ctx, r.Client, before, live, "recording the success of")
}

// Stopped reports whether no container runs on beside that of a Job that has succeeded.
func Stopped(live *batchv1.Job) bool {
	return terminated(live) || live.Annotations[SucceededAnnotation] == "" || ptr.Deref(live.Spec.Suspend, false)
}

// stop ends the pods of a Job that has succeeded according to its annotation only. A
// suspended Job has no pods, and is not a failed one.
func (r *Runner) stop(ctx context.Context, live *batchv1.Job) error {
	if Stopped(live) {
		return nil
	}
	before := live.DeepCopy()
	live.Spec.Suspend = ptr.To(true)
	return client.IgnoreNotFound(apply.MergeUnlocked(ctx, r.Client, before, live, "ending the pods of"))
}

// settle records that a Job of a CronJob has succeeded although a container beside its own
// still runs, and reports whether it has.
func (r *Runner) settle(ctx context.Context, run *batchv1.Job, container string) (bool, error) {
	list, err := Pods(ctx, r.Client, run)
	if err != nil || !poddiag.Succeeded(poddiag.Staying(list), container) || poddiag.Beside(list, container) == "" {
		return false, err
	}
	if err := r.record(ctx, run); err != nil {
		return false, err
	}
	return true, r.stop(ctx, run)
}

// clear deletes the Jobs that have succeeded according to their annotation only: their
// CronJob does not count them as finished, and keeps them.
func (r *Runner) clear(ctx context.Context, runs []batchv1.Job) error {
	for i := range runs {
		run := &runs[i]
		if run.Annotations[SucceededAnnotation] == "" || terminated(run) {
			continue
		}
		if err := apply.Delete(ctx, r.Client, run, client.PropagationPolicy("Background")); err != nil {
			return err
		}
	}
	return nil
}
