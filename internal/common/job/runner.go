package job

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// RunKeyAnnotation holds the key that decides whether a completed Job must run again.
	// A builder sets it to what the result depends on; the default is the hash of the pod
	// template.
	RunKeyAnnotation = "forge.c5c3.io/pod-spec-hash"

	// templateAnnotation holds the hash of the pod template. A Job that failed or is
	// stuck is replaced when it changes, because the old template may be what keeps it
	// from succeeding.
	templateAnnotation = "forge.c5c3.io/pod-template-hash"

	// RetryAfter is how long a permanently failed Job is left alone. The first pass at
	// least this long after the failure retries it unchanged, because the cause may be
	// outside the cluster. A Runner triggers no passes; callers request their own
	// requeue.
	RetryAfter = 5 * time.Minute
)

// Runner runs Jobs for one operator.
type Runner struct {
	// Client reads Jobs and their pods from a cache, which may be limited to objects with
	// the labels of the desired Jobs. It serves unstructured reads from the API server.
	Client client.Client
	// Events reads events from the API server, and only for a Job that was started and
	// has no pod. If it is nil, the reason for that is not reported.
	Events client.Reader
	// Scheme resolves owner references.
	Scheme *runtime.Scheme
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// RetryAfter overrides the constant RetryAfter unless it is zero.
	RetryAfter time.Duration
	// KeyOnly keeps a failed Job until its key changes or RetryAfter has passed, although its
	// template has changed: each run is a login that counts as a failed one.
	KeyOnly bool
	// Exits lets a Job count as complete as soon as its container has succeeded. If it is
	// nil, the status of the Job decides.
	Exits *Exits
	// Hidden are values that are redacted in container output.
	Hidden []string
}

// State is the state of a Job after a pass.
type State struct {
	// Complete is true if the Job succeeded for its current run key, even if only its pod
	// shows that yet.
	Complete bool
	// Waiting says what a running Job is waiting for, "" if it is just running.
	Waiting string
	// Again is the delay before the cause of a missing pod, or the end of one, is checked
	// again, zero if a watch reports it.
	Again time.Duration
	// Job is the live Job, nil right after it was replaced.
	Job *batchv1.Job
}

func (r *Runner) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// labelled returns the pods with the label of the Job, except those of a predecessor.
func labelled(ctx context.Context, reader client.Reader, job *batchv1.Job) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := reader.List(ctx, &list, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of Job %s: %w", job.Name, err)
	}
	// Until they are collected, a predecessor's pods have the same job-name label.
	return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool {
		controller := metav1.GetControllerOf(&pod)
		return controller != nil && controller.UID != job.UID
	}), nil
}
