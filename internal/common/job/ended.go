package job

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/poddiag"
)

// SucceededFor reports whether the live Job, which may be nil, succeeded with the run key
// of the desired one.
func (r *Runner) SucceededFor(ctx context.Context, live, desired *batchv1.Job) (bool, error) {
	if live == nil || !live.DeletionTimestamp.IsZero() ||
		live.Annotations[RunKeyAnnotation] != desired.Annotations[RunKeyAnnotation] {
		return false, nil
	}
	if ended, succeeded, _ := Ended(live); ended {
		return succeeded, nil
	}
	return r.exited(ctx, live, desired)
}

// Ended reports whether, how and when a Job finished: according to its status, or to what
// was recorded on it while a container beside its own went on running.
func Ended(live *batchv1.Job) (ended, succeeded bool, at time.Time) {
	if at, err := time.Parse(time.RFC3339, live.Annotations[SucceededAnnotation]); err == nil {
		return true, true, at
	}
	for _, conditionType := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if finished(live, conditionType) {
			return true, conditionType == batchv1.JobComplete, find(live, conditionType).LastTransitionTime.Time
		}
	}
	return false, false, time.Time{}
}

// Unended describes one of the selected Jobs that has not ended, "" if there is none.
func Unended(ctx context.Context, c client.Reader, of ...client.ListOption) (string, error) {
	var jobs batchv1.JobList
	if err := c.List(ctx, &jobs, of...); err != nil {
		return "", fmt.Errorf("listing the Jobs: %w", err)
	}
	for i := range jobs.Items {
		if ended, _, _ := Ended(&jobs.Items[i]); !ended {
			return "Job " + jobs.Items[i].Name + " has not ended", nil
		}
	}
	return "", nil
}

// exited reports whether the container of a Job that runs a single one has succeeded.
func (r *Runner) exited(ctx context.Context, live, desired *batchv1.Job) (bool, error) {
	if r.Exits == nil || ptr.Deref(desired.Spec.Completions, 1) != 1 {
		return false, nil
	}
	if _, seen := r.Exits.seen.Get(live.UID); seen {
		return true, nil
	}
	list, err := Pods(ctx, r.Client, live)
	if err != nil || !poddiag.Succeeded(poddiag.Staying(list), Containers(desired)...) {
		return false, err
	}
	if poddiag.Beside(list, Containers(desired)...) != "" {
		return true, r.record(ctx, live)
	}
	r.Exits.seen.Add(live.UID, nil)
	return true, nil
}

// Pods returns the pods that the Job controls. Anyone can label a pod, so others do not
// count.
func Pods(ctx context.Context, reader client.Reader, live *batchv1.Job) ([]corev1.Pod, error) {
	list, err := labelled(ctx, reader, live)
	return slices.DeleteFunc(list, func(pod corev1.Pod) bool { return !metav1.IsControlledBy(&pod, live) }), err
}

// terminated reports whether a Job has ended according to its status.
func terminated(job *batchv1.Job) bool {
	return finished(job, batchv1.JobComplete) || finished(job, batchv1.JobFailed)
}

func finished(job *batchv1.Job, conditionType batchv1.JobConditionType) bool {
	condition := find(job, conditionType)
	return condition != nil && condition.Status == corev1.ConditionTrue
}

func find(job *batchv1.Job, conditionType batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if job.Status.Conditions[i].Type == conditionType {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

func failedAt(job *batchv1.Job) time.Time {
	if condition := find(job, batchv1.JobFailed); condition != nil {
		return condition.LastTransitionTime.Time
	}
	return job.CreationTimestamp.Time
}
