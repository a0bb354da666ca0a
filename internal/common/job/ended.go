package job

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/poddiag"
)

// SucceededFor reports whether the live Job, which may be nil, succeeded with
// the run key of the desired one.
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

// Ended reports whether, how and when a Job ended, by its own status.
func Ended(live *batchv1.Job) (ended, succeeded bool, at time.Time) {
	for _, conditionType := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if finished(live, conditionType) {
			return true, conditionType == batchv1.JobComplete, find(live, conditionType).LastTransitionTime.Time
		}
	}
	return false, false, time.Time{}
}

// exitsKept is how many Jobs an Exits remembers. It needs them for two seconds each.
const exitsKept = 10_000

// Exits remembers the Jobs whose container was seen to end with success before their
// status says so, which takes the kubelet and the Job controller about two seconds. A
// first installation waits for several Jobs in turn. A cache that leaves out Pods that
// have succeeded shows the end of the container for a moment only.
type Exits struct{ seen *lru.Cache }

// NewExits returns an Exits for all Runners of an operator.
func NewExits() *Exits { return &Exits{seen: lru.New(exitsKept)} }

// exited reports whether the one container that a Job runs has done its work.
func (r *Runner) exited(ctx context.Context, live, desired *batchv1.Job) (bool, error) {
	if r.Exits == nil || ptr.Deref(desired.Spec.Completions, 1) != 1 {
		return false, nil
	}
	if _, seen := r.Exits.seen.Get(live.UID); seen {
		return true, nil
	}
	list, err := r.podsOf(ctx, live)
	// Anybody may label a pod, but only the Job controller's are the Job's.
	list = slices.DeleteFunc(list, func(pod corev1.Pod) bool { return !metav1.IsControlledBy(&pod, live) })
	if err != nil || !poddiag.Succeeded(list) {
		return false, err
	}
	r.Exits.seen.Add(live.UID, nil)
	return true, nil
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
