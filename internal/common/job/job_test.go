package job

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/apply"
)

const (
	namespace = "openstack"
	managedBy = "app.kubernetes.io/managed-by"
)

var owner = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "keystone", Namespace: namespace, UID: "owner"}}

// run is one pass of a runner. It records deletions, creations and patches, and its typed
// reads return only the operator's Jobs, like its cache.
type run struct {
	runner  *Runner
	deleted []metav1.DeletionPropagation
	created int
	patched int
	// unawaited counts the deletions that later reads do not wait for.
	unawaited int
	// asked counts the reads of events.
	asked int
}

func newRun(t *testing.T, objects ...client.Object) *run {
	t.Helper()
	r := &run{}
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			options := (&client.DeleteOptions{}).ApplyOptions(opts)
			r.deleted = append(r.deleted, *options.PropagationPolicy)
			if options.DisableReadYourWritesConsistency {
				r.unawaited++
			}
			return c.Delete(ctx, obj, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			err := c.Create(ctx, obj, opts...)
			if err == nil {
				r.created++
			}
			return err
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			r.patched++
			return c.Patch(ctx, obj, patch, opts...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, obj, opts...)
			if job, typed := obj.(*batchv1.Job); err == nil && typed && job.Labels[managedBy] != "keystone-operator" {
				return apierrors.NewNotFound(batchv1.Resource("jobs"), key.Name)
			}
			return err
		},
	}).WithIndex(&corev1.Event{}, "involvedObject.uid", func(obj client.Object) []string {
		event, _ := obj.(*corev1.Event)
		return []string{string(event.InvolvedObject.UID)}
	}).Build()
	r.runner = &Runner{Client: c, Events: r.events(c), Scheme: clientgoscheme.Scheme}
	return r
}

func desired(key, image string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: "db-sync", Namespace: namespace, Labels: map[string]string{managedBy: "keystone-operator"},
			Annotations: map[string]string{RunKeyAnnotation: key},
		},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "db-sync", Image: image}},
		}}},
	}
}

// live is the Job as an earlier pass created it.
func live(t *testing.T, key, image string, conditions ...batchv1.JobCondition) *batchv1.Job {
	t.Helper()
	job := desired(key, image)
	if err := stamp(job); err != nil {
		t.Fatal(err)
	}
	job.UID = "live"
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	job.Status.Conditions = conditions
	return job
}

// read returns the Job as the API server has it now.
func (r *run) read(t *testing.T) *batchv1.Job {
	t.Helper()
	wanted := desired("", "")
	job, err := apply.FindUncached(t.Context(), r.runner.Client, client.ObjectKeyFromObject(wanted), wanted)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// podThatFailed is a failed pod labelled for Job db-sync, with the given controller.
func podThatFailed(message string, controller *batchv1.Job) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "db-sync-x", Namespace: namespace, Labels: map[string]string{batchv1.JobNameLabel: "db-sync"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(controller, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "db-sync", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: message}},
		}}},
	}
}

func condition(conditionType batchv1.JobConditionType, age time.Duration) batchv1.JobCondition {
	return batchv1.JobCondition{
		Type: conditionType, Status: corev1.ConditionTrue, Message: "BackoffLimitExceeded",
		LastTransitionTime: metav1.NewTime(time.Now().Add(-age)),
	}
}

func TestRunCreatesKeepsOrReplacesAJobByItsState(t *testing.T) {
	for name, test := range map[string]struct {
		live        func(*testing.T) *batchv1.Job
		wantDone    bool
		wantFailed  bool
		wantCreated int
		wantDeleted []metav1.DeletionPropagation
	}{
		"a missing Job is created": {wantCreated: 1},
		"a running Job is left alone": {
			live: func(t *testing.T) *batchv1.Job { return live(t, "key", "image:1") },
		},
		"a running Job with another key waits for its pods to go": {
			live:        func(t *testing.T) *batchv1.Job { return live(t, "old", "image:1") },
			wantDeleted: []metav1.DeletionPropagation{metav1.DeletePropagationForeground},
		},
		"a healthy running Job with another template is left alone": {
			live: func(t *testing.T) *batchv1.Job { return live(t, "key", "image:0") },
		},
		"a running Job with another template and a failed pod waits for its pods to go": {
			live: func(t *testing.T) *batchv1.Job {
				job := live(t, "key", "image:bad")
				job.Status.Failed = 1
				return job
			},
			wantDeleted: []metav1.DeletionPropagation{metav1.DeletePropagationForeground},
		},
		"a completed Job is done": {
			live:     func(t *testing.T) *batchv1.Job { return live(t, "key", "image:1", condition(batchv1.JobComplete, 0)) },
			wantDone: true,
		},
		"a completed Job is done although its template changed": {
			live:     func(t *testing.T) *batchv1.Job { return live(t, "key", "image:0", condition(batchv1.JobComplete, 0)) },
			wantDone: true,
		},
		"a completed Job with another key runs again": {
			live:        func(t *testing.T) *batchv1.Job { return live(t, "old", "image:1", condition(batchv1.JobComplete, 0)) },
			wantDeleted: []metav1.DeletionPropagation{metav1.DeletePropagationBackground}, wantCreated: 1,
		},
		"a failed Job stays failed": {
			live: func(t *testing.T) *batchv1.Job {
				return live(t, "key", "image:1", condition(batchv1.JobFailed, time.Second))
			},
			wantFailed: true,
		},
		"a failed Job with another template runs again": {
			live:        func(t *testing.T) *batchv1.Job { return live(t, "key", "image:bad", condition(batchv1.JobFailed, 0)) },
			wantDeleted: []metav1.DeletionPropagation{metav1.DeletePropagationBackground}, wantCreated: 1,
		},
		"a failed Job is tried again after a while": {
			live: func(t *testing.T) *batchv1.Job {
				return live(t, "key", "image:1", condition(batchv1.JobFailed, RetryAfter))
			},
			wantDeleted: []metav1.DeletionPropagation{metav1.DeletePropagationBackground}, wantCreated: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			if test.live != nil {
				objects = append(objects, test.live(t))
			}
			r := newRun(t, objects...)
			state, err := r.runner.Run(t.Context(), owner, desired("key", "image:1"))
			if errors.Is(err, ErrJobFailed) != test.wantFailed || (err != nil && !test.wantFailed) {
				t.Fatalf("error %v, want a failed Job: %t", err, test.wantFailed)
			}
			if state.Complete != test.wantDone || r.created != test.wantCreated || len(r.deleted) != len(test.wantDeleted) {
				t.Fatalf("complete %t, created %d, deleted %v; want %t, %d, %v",
					state.Complete, r.created, r.deleted, test.wantDone, test.wantCreated, test.wantDeleted)
			}
			for i := range r.deleted {
				if r.deleted[i] != test.wantDeleted[i] {
					t.Errorf("deleted with %s, want %s", r.deleted[i], test.wantDeleted[i])
				}
			}
		})
	}
}

func TestAKeyOnlyJobIsNotRetriedForATemplateChange(t *testing.T) {
	for name, test := range map[string]struct {
		key         string
		failed      time.Duration
		status      batchv1.JobStatus
		wantDeleted int
	}{
		"another template":            {key: "key"},
		"another template, still due": {key: "key", status: batchv1.JobStatus{Failed: 1}},
		"another key":                 {key: "other", wantDeleted: 1},
		"after a while":               {key: "key", failed: RetryAfter, wantDeleted: 1},
	} {
		before := live(t, "key", "image:bad", condition(batchv1.JobFailed, test.failed))
		if test.status.Failed > 0 {
			before.Status = test.status
		}
		r := newRun(t, before)
		r.runner.KeyOnly = true
		if _, err := r.runner.Run(t.Context(), owner, desired(test.key, "image:1")); err != nil && !errors.Is(err, ErrJobFailed) {
			t.Fatal(err)
		}
		if len(r.deleted) != test.wantDeleted {
			t.Errorf("%s: deleted %v, want %d", name, r.deleted, test.wantDeleted)
		}
	}
}

func TestAJobIsCompleteOnceItsPodHasSucceeded(t *testing.T) {
	running := live(t, "key", "image:1")
	other := live(t, "key", "image:1")
	other.UID = "other"
	foreground := []metav1.DeletionPropagation{metav1.DeletePropagationForeground}
	for name, test := range map[string]struct {
		pod         *corev1.Pod
		change      func(*corev1.Pod)
		key         string
		completions int32
		want        bool
		wantDeleted []metav1.DeletionPropagation
	}{
		"exit code 0":                        {pod: podThatExited(running, 0), want: true},
		"exit code 1":                        {pod: podThatExited(running, 1)},
		"a container of a mesh runs on":      {pod: podThatExited(running, 0), change: addContainer, want: true},
		"exit code 1 beside another one":     {pod: podThatExited(running, 1), change: addContainer},
		"the pod of a predecessor":           {pod: podThatExited(other, 0)},
		"a pod without an owner":             {pod: podThatExited(running, 0), change: disown},
		"a terminating pod":                  {pod: podThatExited(running, 0), change: terminate},
		"another run key":                    {pod: podThatExited(running, 0), key: "new", wantDeleted: foreground},
		"a Job that wants more than one pod": {pod: podThatExited(running, 0), completions: 2},
	} {
		t.Run(name, func(t *testing.T) {
			if test.change != nil {
				test.change(test.pod)
			}
			wanted := desired(cmp.Or(test.key, "key"), "image:1")
			if test.completions > 0 {
				wanted.Spec.Completions = &test.completions
			}
			r := newRun(t, running.DeepCopy(), test.pod)
			r.runner.Exits = NewExits()
			succeeded, err := r.runner.SucceededFor(t.Context(), r.read(t), wanted)
			if succeeded != test.want || err != nil {
				t.Errorf("SucceededFor reports %t, %v; want %t", succeeded, err, test.want)
			}
			state, err := r.runner.Run(t.Context(), owner, wanted)
			if state.Complete != test.want || err != nil {
				t.Errorf("Run reports %t, %v; want %t", state.Complete, err, test.want)
			}
			if !slices.Equal(r.deleted, test.wantDeleted) {
				t.Errorf("deleted %v, want %v", r.deleted, test.wantDeleted)
			}
		})
	}
}

func TestASucceededPodStillCountsAfterItIsDeleted(t *testing.T) {
	running := live(t, "key", "image:1")
	pod := podThatExited(running, 0)
	r := newRun(t, running, pod)
	statusOnly, exits := *r.runner, NewExits()
	r.runner.Exits = exits
	complete := func(runner *Runner) bool {
		t.Helper()
		state, err := runner.Run(t.Context(), owner, desired("key", "image:1"))
		if err != nil {
			t.Fatal(err)
		}
		return state.Complete
	}
	if complete(&statusOnly) {
		t.Error("a pod counts for a Runner that is to believe the status only")
	}
	if !complete(r.runner) {
		t.Error("the pod does not count")
	}
	if err := r.runner.Client.Delete(t.Context(), pod, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	if !complete(r.runner) {
		t.Error("what was seen is forgotten with the pod")
	}
}

// podThatExited is a pod of the Job whose only container has terminated.
func podThatExited(controller *batchv1.Job, code int32) *corev1.Pod {
	pod := podThatFailed("", controller)
	pod.Spec.Containers = []corev1.Container{{Name: "db-sync"}}
	pod.Status.ContainerStatuses[0].State.Terminated.ExitCode = code
	return pod
}

func addContainer(pod *corev1.Pod) {
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "proxy"})
	pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
		Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	})
}

func disown(pod *corev1.Pod) { pod.OwnerReferences = nil }

func terminate(pod *corev1.Pod) {
	now := metav1.Now()
	pod.DeletionTimestamp, pod.Finalizers = &now, []string{batchv1.JobTrackingFinalizer}
}

func TestAFailedJobQuotesThePodOutputWithoutPasswords(t *testing.T) {
	failed := live(t, "key", "image:1", condition(batchv1.JobFailed, 0))
	pod := podThatFailed("Access denied at mysql+pymysql://keystone:s3cret@db/keystone", failed)
	_, err := newRun(t, failed, pod).runner.Run(t.Context(), owner, desired("key", "image:1"))
	if !errors.Is(err, ErrJobFailed) || !strings.Contains(err.Error(), "Access denied") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v, want a failed Job with its pod's words and no password", err)
	}
}

func TestAChangedTemplateReplacesARunningJobOnlyIfItsOwnPodIsStuck(t *testing.T) {
	current := live(t, "key", "image:bad")
	earlier := live(t, "key", "image:bad")
	earlier.UID = "earlier"
	for name, test := range map[string]struct {
		controller  *batchv1.Job
		wantDeleted int
	}{
		"its own pod":                {controller: current, wantDeleted: 1},
		"a pod of the run before it": {controller: earlier},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, current.DeepCopy(), podThatFailed("no route to host", test.controller))
			state, err := r.runner.Run(t.Context(), owner, desired("key", "image:1"))
			if err != nil || len(r.deleted) != test.wantDeleted || state.Complete {
				t.Errorf("state %+v, error %v, deleted %v; want %d deleted", state, err, r.deleted, test.wantDeleted)
			}
		})
	}
}

func TestAFailedJobIsRetriedAfterRetryAfter(t *testing.T) {
	failed := live(t, "key", "image:1", condition(batchv1.JobFailed, 0))
	since := failed.Status.Conditions[0].LastTransitionTime.Truncate(time.Second)
	for name, test := range map[string]struct {
		passed      time.Duration
		wantCreated int
	}{
		"just before": {passed: RetryAfter - time.Second},
		"at the time": {passed: RetryAfter, wantCreated: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, failed.DeepCopy())
			r.runner.Now = func() time.Time { return since.Add(test.passed) }
			_, err := r.runner.Run(t.Context(), owner, desired("key", "image:1"))
			if errors.Is(err, ErrJobFailed) != (test.wantCreated == 0) || r.created != test.wantCreated {
				t.Errorf("error %v, created %d; want %d created", err, r.created, test.wantCreated)
			}
		})
	}
}
