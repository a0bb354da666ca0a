// Package job runs Kubernetes Jobs to an outcome and keeps CronJobs as
// declared.
package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/pods"
)

const (
	// RunKeyAnnotation holds the key that decides whether a completed Job has
	// to run again. A builder sets it to what the result depends on; without
	// it the whole pod template counts.
	RunKeyAnnotation = "forge.c5c3.io/pod-spec-hash"

	// templateAnnotation holds the hash of the pod template. A Job that has
	// not succeeded is replaced when it changes, because the old template may
	// be what keeps it from succeeding.
	templateAnnotation = "forge.c5c3.io/pod-template-hash"

	// RetryAfter is how long a permanently failed Job is left alone before it
	// is tried again unchanged: its cause may lie outside the cluster.
	RetryAfter = 5 * time.Minute
)

// ErrJobFailed is wrapped by the error of a Job that failed for good. Its text
// quotes the end of the failed container's output.
var ErrJobFailed = errors.New("job failed")

// Runner runs Jobs for one operator.
type Runner struct {
	// Client reads Jobs and their pods from the cache.
	Client client.Client
	// Scheme resolves owner references.
	Scheme *runtime.Scheme
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// State is what is known of a Job after a pass.
type State struct {
	// Complete is true when the Job succeeded for its current run key.
	Complete bool
	// Waiting says what a running Job waits for, "" when it just runs.
	Waiting string
	// Job is the live Job, nil right after it was replaced.
	Job *batchv1.Job
}

// RunJob makes sure that job ran to completion for its run key. It creates a
// missing Job, replaces a finished one whose run key changed and an unfinished
// or failed one whose template changed, and reports (true, nil) on success,
// (false, nil) while it runs, and an error wrapping ErrJobFailed when it failed
// for good.
func RunJob(ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, job *batchv1.Job) (bool, error) {
	state, err := (&Runner{Client: c, Scheme: scheme}).Run(ctx, owner, job)
	return state.Complete, err
}

// Run is RunJob with the details of the Job's state.
func (r *Runner) Run(ctx context.Context, owner client.Object, desired *batchv1.Job) (State, error) {
	if err := stamp(desired); err != nil {
		return State{}, err
	}
	live := &batchv1.Job{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(desired), live)
	if apierrors.IsNotFound(err) {
		return State{}, r.create(ctx, owner, desired)
	}
	if err != nil {
		return State{}, fmt.Errorf("reading Job %s: %w", desired.Name, err)
	}
	if controller := metav1.GetControllerOf(live); controller == nil || controller.UID != owner.GetUID() {
		return r.evict(ctx, owner, live)
	}
	sameKey := live.Annotations[RunKeyAnnotation] == desired.Annotations[RunKeyAnnotation]
	sameTemplate := live.Annotations[templateAnnotation] == desired.Annotations[templateAnnotation]
	switch {
	case !live.DeletionTimestamp.IsZero():
		return State{Waiting: "the previous run is being removed", Job: live}, nil
	case finished(live, batchv1.JobComplete):
		if sameKey {
			return State{Complete: true, Job: live}, nil
		}
		return State{}, r.replace(ctx, owner, live, desired, metav1.DeletePropagationBackground)
	case finished(live, batchv1.JobFailed):
		if !sameKey || !sameTemplate || r.now().Sub(failedAt(live)) >= RetryAfter {
			return State{}, r.replace(ctx, owner, live, desired, metav1.DeletePropagationBackground)
		}
		return State{Job: live}, r.failure(ctx, live)
	case !sameKey || !sameTemplate:
		// Foreground: two runs must never work on the same database at once, so
		// the new Job waits until the pods of the old one are gone.
		return State{Waiting: "the previous run is being replaced"}, r.delete(ctx, live, metav1.DeletePropagationForeground)
	}
	waiting, err := r.problem(ctx, live)
	return State{Waiting: waiting, Job: live}, err
}

func (r *Runner) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// stamp records the keys the next pass compares.
func stamp(job *batchv1.Job) error {
	hash, err := Hash(job.Spec.Template)
	if err != nil {
		return err
	}
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[templateAnnotation] = hash
	if job.Annotations[RunKeyAnnotation] == "" {
		job.Annotations[RunKeyAnnotation] = hash
	}
	return nil
}

// Hash is the hex SHA-256 of the JSON form of v, for run keys.
func Hash(v any) (string, error) {
	encoded, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("hashing %T: %w", v, err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:]), nil
}

func (r *Runner) create(ctx context.Context, owner client.Object, job *batchv1.Job) error {
	if err := controllerutil.SetControllerReference(owner, job, r.Scheme); err != nil {
		return fmt.Errorf("setting the owner of Job %s: %w", job.Name, err)
	}
	if err := r.Client.Create(ctx, job); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating Job %s: %w", job.Name, err)
	}
	return nil
}

func (r *Runner) replace(ctx context.Context, owner client.Object, live, desired *batchv1.Job, policy metav1.DeletionPropagation) error {
	if err := r.delete(ctx, live, policy); err != nil {
		return err
	}
	return r.create(ctx, owner, desired)
}

func (r *Runner) delete(ctx context.Context, live *batchv1.Job, policy metav1.DeletionPropagation) error {
	err := r.Client.Delete(ctx, live, client.PropagationPolicy(policy), client.Preconditions{UID: &live.UID})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting Job %s: %w", live.Name, err)
	}
	return nil
}

// evict removes the Job a deleted resource of the same name left behind, which
// garbage collection has not reached yet, and refuses anything else.
func (r *Runner) evict(ctx context.Context, owner client.Object, live *batchv1.Job) (State, error) {
	controller := metav1.GetControllerOf(live)
	if controller == nil || controller.Name != owner.GetName() {
		return State{}, fmt.Errorf("a Job named %s already exists that this resource does not control; rename or delete it: %w",
			live.Name, apply.ErrNotOwned)
	}
	return State{Waiting: "the Job of a deleted predecessor is being removed"}, r.delete(ctx, live, metav1.DeletePropagationForeground)
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

// FailedError describes a Job that failed for good. It wraps ErrJobFailed.
type FailedError struct {
	// Job is the Job's name.
	Job string
	// Text quotes what its newest pod said last.
	Text string
	// ExitCode is that of the newest pod's first failed container, 0 when no
	// container ended by itself.
	ExitCode int32
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("job %s: %s: %s", e.Job, e.Text, ErrJobFailed)
}

// Unwrap returns ErrJobFailed.
func (e *FailedError) Unwrap() error { return ErrJobFailed }

// failure explains a failed Job by what its newest pod said.
func (r *Runner) failure(ctx context.Context, job *batchv1.Job) error {
	list, err := r.podsOf(ctx, job)
	if err != nil {
		return err
	}
	text, _ := pods.Problem(list)
	if text == "" {
		if condition := find(job, batchv1.JobFailed); condition != nil {
			text = condition.Message
		}
	}
	return &FailedError{Job: job.Name, Text: text, ExitCode: pods.ExitCode(list)}
}

func (r *Runner) problem(ctx context.Context, job *batchv1.Job) (string, error) {
	list, err := r.podsOf(ctx, job)
	if err != nil {
		return "", err
	}
	text, _ := pods.Problem(list)
	return text, nil
}

func (r *Runner) podsOf(ctx context.Context, job *batchv1.Job) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := r.Client.List(ctx, &list, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of Job %s: %w", job.Name, err)
	}
	return list.Items, nil
}

// EnsureCronJob makes the CronJob carry the declared fields; a change takes
// effect at the next scheduled run.
func EnsureCronJob(ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, cronJob *batchv1.CronJob) error {
	return apply.EnsureObject(ctx, c, scheme, owner, cronJob, apply.FieldManager)
}
