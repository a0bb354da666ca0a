package standin

import (
	"context"
	"fmt"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Jobs simulates the Job controller and the kubelet: it creates one Pod for a Job
// and makes both succeed.
type Jobs struct {
	script *script

	mu   sync.Mutex
	runs map[client.ObjectKey][]types.UID
}

// NewJobs returns a stand-in for [Run].
func NewJobs() *Jobs {
	return &Jobs{script: newScript(), runs: map[client.ObjectKey][]types.UID{}}
}

// Set sets the outcome for the Jobs of that name: [Fail] fails them after
// their last retry with the message as the container's last output, [NoImage]
// leaves their Pod in ImagePullBackOff, [Refuse] gives them no Pod, [Retry] restarts
// the container. A finished Job stays as it is. With the real
// controller, a Job that fails while its Pod restarts by itself loses that Pod.
func (j *Jobs) Set(namespace, name string, o Outcome) { j.script.set(namespace, name, o) }

// Runs returns the UIDs of the Jobs of that name which succeeded, in order.
func (j *Jobs) Runs(namespace, name string) []types.UID {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]types.UID(nil), j.runs[client.ObjectKey{Namespace: namespace, Name: name}]...)
}

func (j *Jobs) setup(mgr manager.Manager) error {
	return watch(mgr, "jobs", func() *batchv1.Job { return &batchv1.Job{} }, j.script, j.act)
}

func (j *Jobs) act(ctx context.Context, c client.Client, job *batchv1.Job) error {
	if job.DeletionTimestamp != nil || ended(job) {
		return nil
	}
	outcome := j.script.outcome(job)
	if job.Spec.Suspend != nil && *job.Spec.Suspend {
		return client.IgnoreNotFound(c.Delete(ctx, podOf(job), client.GracePeriodSeconds(0)))
	}
	runsOn, err := j.setPod(ctx, c, job, outcome)
	if err != nil {
		return err
	}
	if runsOn && outcome.kind == succeed {
		outcome.kind = exit
	}
	before := job.DeepCopy()
	setJobStatus(&job.Status, outcome, backoffLimit(job))
	// As soon as the status is visible, Runs must include the run.
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := c.Status().Patch(ctx, job, client.MergeFrom(before)); err != nil {
		// A Job that was deleted meanwhile has not succeeded.
		return client.IgnoreNotFound(err)
	}
	if outcome.kind == succeed {
		j.record(job)
	}
	return nil
}

// setPod gives the Job the Pod for the outcome, or the event that
// explains why it has none. It reports whether the Pod has a [Sidecar].
func (j *Jobs) setPod(ctx context.Context, c client.Client, job *batchv1.Job, outcome Outcome) (runsOn bool, err error) {
	if outcome.kind == refuse {
		return false, create(ctx, c, refusalOf(job, outcome.message))
	}
	pod := podOf(job)
	if outcome.kind == fail && job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		return false, client.IgnoreNotFound(c.Delete(ctx, pod, client.GracePeriodSeconds(0)))
	}
	if err := create(ctx, c, pod); err != nil {
		return false, err
	}
	return hasSidecar(pod), setPodStatus(ctx, c, pod, outcome)
}

// refusalOf returns the event of a Job whose Pod the API server refuses.
func refusalOf(job *batchv1.Job, message string) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name + "-refused-" + string(job.UID[:5])},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID,
		},
		Type: corev1.EventTypeWarning, Reason: "FailedCreate", LastTimestamp: metav1.Now(), Count: 1,
		Message: fmt.Sprintf("Error creating: pods %q is forbidden: %s", job.Name+"-x2x4z", message),
		Source:  corev1.EventSource{Component: "job-controller"},
	}
}

// record records that a Job succeeded. A stale cache may show a recorded Job again.
func (j *Jobs) record(job *batchv1.Job) {
	key := client.ObjectKeyFromObject(job)
	if !slices.Contains(j.runs[key], job.UID) {
		j.runs[key] = append(j.runs[key], job.UID)
	}
}

func ended(job *batchv1.Job) bool {
	for _, condition := range job.Status.Conditions {
		terminal := condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed
		if terminal && condition.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

func backoffLimit(job *batchv1.Job) int32 {
	if job.Spec.BackoffLimit == nil {
		return 6
	}
	return *job.Spec.BackoffLimit
}

// podOf returns the Pod of a Job. Its name is stable, so that a
// stale cache does not lead to a second Pod.
func podOf(job *batchv1.Job) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: job.Name + "-" + string(job.UID[:5]),
			Labels: job.Spec.Template.Labels, Annotations: job.Spec.Template.Annotations,
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job")),
			},
		},
		Spec: job.Spec.Template.Spec,
	}
}

// setJobStatus sets what the API server's validation of Job status
// requires: a finished Job has a start time, no active Pods, and the condition that
// announced its completion.
func setJobStatus(status *batchv1.JobStatus, outcome Outcome, backoffLimit int32) {
	now := metav1.Now()
	if status.StartTime == nil {
		status.StartTime = &now
	}
	status.Active = 0
	switch outcome.kind {
	case succeed:
		status.Succeeded = 1
		status.CompletionTime = &now
		status.Conditions = append(status.Conditions,
			jobCondition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods"),
			jobCondition(batchv1.JobComplete, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods"))
	case fail:
		status.Failed = backoffLimit + 1
		status.Conditions = append(status.Conditions,
			jobCondition(batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit"),
			jobCondition(batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit"))
	case hang, noImage, retry, exit:
		status.Active = 1
	case refuse:
	}
}

func jobCondition(kind batchv1.JobConditionType, reason, message string) batchv1.JobCondition {
	return batchv1.JobCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		LastProbeTime: metav1.Now(), LastTransitionTime: metav1.Now(),
	}
}
