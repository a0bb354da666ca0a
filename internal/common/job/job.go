// Package job runs Kubernetes Jobs to completion and applies CronJobs.
package job

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/poddiag"
)

// ErrJobFailed is wrapped by the error of a permanently failed Job. The error's text
// quotes the end of the failed container's output.
var ErrJobFailed = errors.New("job failed")

// RunJob ensures that job ran to completion for its run key. It creates a missing Job,
// and replaces one whose run key changed. It replaces one whose template changed only if
// the Job failed or its pods are stuck: a healthy run is never interrupted for a template
// that leads to the same result. It returns (true, nil) on success and (false, nil) while
// the Job is running. The error wraps ErrJobFailed if the Job failed permanently, and
// apply.ErrNotOwned if a Job of that name has another owner.
//
// The labels and the owner reference of a Job of this owner are restored if they are
// lost. To be recognised without the reference, the Job needs a run key and the labels of
// job, of which there must be at least one.
func RunJob(ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, job *batchv1.Job) (bool, error) {
	state, err := (&Runner{Client: c, Scheme: scheme}).Run(ctx, owner, job)
	return state.Complete, err
}

// Run is RunJob with details of the Job's state.
func (r *Runner) Run(ctx context.Context, owner client.Object, desired *batchv1.Job) (State, error) {
	if err := stamp(desired); err != nil {
		return State{}, err
	}
	live, err := apply.Find(ctx, r.Client, client.ObjectKeyFromObject(desired), &batchv1.Job{})
	switch {
	case err != nil:
		return State{}, err
	case live == nil:
		return r.create(ctx, owner, desired)
	}
	return r.proceed(ctx, owner, live, desired)
}

// Find returns the live Job of that name if the owner controls it, nil otherwise. It
// reads the cache.
func (r *Runner) Find(ctx context.Context, owner client.Object, name string) (*batchv1.Job, error) {
	live, err := r.FindOurs(ctx, owner, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: name}})
	if live == nil || err != nil || !metav1.IsControlledBy(live, owner) {
		return nil, err
	}
	return live, nil
}

// FindOurs returns the live Job with the desired one's name if Run would treat it as its
// own, nil otherwise. It reads the cache.
func (r *Runner) FindOurs(ctx context.Context, owner client.Object, desired *batchv1.Job) (*batchv1.Job, error) {
	live, err := apply.Find(ctx, r.Client, client.ObjectKeyFromObject(desired), &batchv1.Job{})
	if live == nil || err != nil || !r.isOurs(owner, live, desired) {
		return nil, err
	}
	return live, nil
}

// Remove deletes the Job with the desired one's name if Run would treat it as its own,
// and reports whether the Job and its pods are gone. It asks the API server if the cache
// has no such Job.
func (r *Runner) Remove(ctx context.Context, owner client.Object, desired *batchv1.Job) (bool, error) {
	live, err := apply.Find(ctx, r.Client, client.ObjectKeyFromObject(desired), &batchv1.Job{})
	var options []client.DeleteOption
	if live == nil && err == nil {
		live, err = apply.FindUncached(ctx, r.Client, client.ObjectKeyFromObject(desired), &batchv1.Job{})
		// The cache may never have had this Job, so later reads must not wait for it to
		// see the deletion.
		options = append(options, client.DisableReadYourWritesConsistency)
	}
	switch {
	case err != nil:
		return false, err
	case live == nil, !r.isOurs(owner, live, desired):
		return true, nil
	case !live.DeletionTimestamp.IsZero():
		return false, nil
	}
	return false, r.delete(ctx, live, metav1.DeletePropagationForeground, options...)
}

// proceed takes the next step for the live Job, whatever its owner.
func (r *Runner) proceed(ctx context.Context, owner client.Object, live, desired *batchv1.Job) (State, error) {
	if !live.DeletionTimestamp.IsZero() {
		return State{Waiting: "the previous run is being removed", Job: live}, nil
	}
	if !r.isOurs(owner, live, desired) {
		return r.evict(ctx, owner, live)
	}
	if err := r.restore(ctx, owner, live, desired); err != nil {
		return State{}, err
	}
	sameKey := live.Annotations[RunKeyAnnotation] == desired.Annotations[RunKeyAnnotation]
	sameTemplate := live.Annotations[templateAnnotation] == desired.Annotations[templateAnnotation]
	switch ended, succeeded, _ := Ended(live); {
	case succeeded:
		if sameKey {
			return State{Complete: true, Job: live}, r.stop(ctx, live)
		}
		return r.replace(ctx, owner, live, desired)
	case ended:
		if !sameKey || !sameTemplate && !r.KeyOnly || r.now().Sub(failedAt(live)) >= cmp.Or(r.RetryAfter, RetryAfter) {
			return r.replace(ctx, owner, live, desired)
		}
		return State{Job: live}, r.failure(ctx, live)
	}
	return r.follow(ctx, live, desired, sameKey, sameTemplate)
}

// follow takes the next step for a Job that has not finished according to its status.
func (r *Runner) follow(ctx context.Context, live, desired *batchv1.Job, sameKey, sameTemplate bool) (State, error) {
	if sameKey {
		if done, err := r.exited(ctx, live, desired); done || err != nil {
			return State{Complete: done, Job: live}, err
		}
	}
	obstacle, err := r.obstacle(ctx, live, Containers(desired)...)
	if err != nil {
		return State{}, err
	}
	stuck := obstacle.text != "" || live.Status.Failed > 0 && !r.KeyOnly
	if !sameKey || !sameTemplate && stuck {
		// Foreground: two runs must never work on the same database at once, so the new
		// Job waits until the pods of the old one are gone.
		return State{Waiting: "the previous run is being replaced"}, r.delete(ctx, live, metav1.DeletePropagationForeground)
	}
	return State{Waiting: obstacle.text, Again: obstacle.again, Job: live}, nil
}

// stamp records the keys that the next pass compares.
func stamp(job *batchv1.Job) error {
	hash, err := Hash(job.Spec.Template)
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, templateAnnotation, hash)
	if job.Annotations[RunKeyAnnotation] == "" {
		job.Annotations[RunKeyAnnotation] = hash
	}
	return nil
}

// Hash returns the hex SHA-256 of the JSON form of v, for run keys.
func Hash(v any) (string, error) {
	encoded, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("hashing %T: %w", v, err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:]), nil
}

// create creates the Job, or proceeds with an existing one of that name that the cache
// does not have.
func (r *Runner) create(ctx context.Context, owner client.Object, desired *batchv1.Job) (State, error) {
	if err := controllerutil.SetControllerReference(owner, desired, r.Scheme); err != nil {
		return State{}, fmt.Errorf("setting the owner of Job %s: %w", desired.Name, err)
	}
	taken := apply.Create(ctx, r.Client, desired)
	if !apierrors.IsAlreadyExists(taken) {
		return State{}, taken
	}
	live, err := apply.FindUncached(ctx, r.Client, client.ObjectKeyFromObject(desired), &batchv1.Job{})
	switch {
	case err != nil:
		return State{}, err
	case live == nil:
		// It was deleted in between: the next pass finds the name free.
		return State{}, taken
	}
	return r.proceed(ctx, owner, live, desired)
}

// replace runs a finished Job again.
func (r *Runner) replace(ctx context.Context, owner client.Object, live, desired *batchv1.Job) (State, error) {
	if err := r.delete(ctx, live, metav1.DeletePropagationBackground); err != nil {
		return State{}, err
	}
	return r.create(ctx, owner, desired)
}

// FailedError describes a Job that failed permanently. It wraps ErrJobFailed.
type FailedError struct {
	// Job is the Job's name.
	Job string
	// Text quotes the end of the newest pod's output.
	Text string
	// ExitCode is that of the newest pod's first failed container, 0 if no container
	// terminated by itself.
	ExitCode int32
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("job %s: %s: %s", e.Job, e.Text, ErrJobFailed)
}

// Unwrap returns ErrJobFailed.
func (e *FailedError) Unwrap() error { return ErrJobFailed }

// RetryAfter is how long a failed Job is left alone. It makes the error a
// [github.com/c5c3/forge/internal/common/reconcile.Lasting] one.
func (e *FailedError) RetryAfter() time.Duration { return RetryAfter }

// failure explains a failed Job with the end of its newest pod's output.
func (r *Runner) failure(ctx context.Context, job *batchv1.Job) error {
	list, err := labelled(ctx, r.Client, job)
	if err != nil {
		return err
	}
	text, _ := poddiag.Problem(list, r.Hidden...)
	if text == "" {
		if condition := find(job, batchv1.JobFailed); condition != nil {
			text = condition.Message
		}
	}
	return &FailedError{Job: job.Name, Text: text, ExitCode: poddiag.ExitCode(list)}
}

// EnsureCronJob applies the CronJob; a change takes effect at the next scheduled run.
func EnsureCronJob(ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, cronJob *batchv1.CronJob) error {
	return apply.EnsureObject(ctx, c, scheme, owner, cronJob, apply.FieldManager)
}
