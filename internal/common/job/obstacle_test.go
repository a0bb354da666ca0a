package job

import (
	"context"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// events is the runner's reader of events; it counts the reads.
func (r *run) events(c client.WithWatch) client.Reader {
	return interceptor.NewClient(c, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			r.asked++
			return c.List(ctx, list, opts...)
		},
	})
}

// told is an event of the Job with the given UID.
func told(uid types.UID, reason string, age time.Duration, message string) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: string(uid) + "." + strings.ToLower(reason)},
		InvolvedObject: corev1.ObjectReference{Kind: "Job", Namespace: namespace, Name: "db-sync", UID: uid},
		Reason:         reason, Message: message, LastTimestamp: metav1.NewTime(time.Unix(1_000_000, 0).Add(-age)),
	}
}

// startedWithoutPod is a Job whose pod the Job controller could not create.
func startedWithoutPod(t *testing.T, image string) *batchv1.Job {
	t.Helper()
	job := live(t, "key", image)
	job.Status.StartTime = ptr.To(metav1.Now())
	return job
}

func TestTheReasonForAMissingPodIsReadFromJobEvents(t *testing.T) {
	refused := told("live", "FailedCreate", 0, `Error creating: pods "db-sync-a" is forbidden: exceeded quota: team`)
	for name, test := range map[string]struct {
		events    []client.Object
		want      string
		wantAgain time.Duration
	}{
		"an event with the reason": {events: []client.Object{refused}, want: "no pod can be created: exceeded quota: team"},
		"no event yet":             {wantAgain: eventDelay},
		"one of a Job before it":   {events: []client.Object{told("earlier", "FailedCreate", 0, "quota")}, wantAgain: eventDelay},
		"one about something else": {events: []client.Object{told("live", "Suspended", 0, "quota")}, wantAgain: eventDelay},
		"one from before a pod could be created": {events: []client.Object{
			told("live", "FailedCreate", time.Minute, "quota"), told("live", "SuccessfulCreate", 0, "Created pod: db-sync-b"),
		}, wantAgain: eventDelay},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, append(test.events, startedWithoutPod(t, "image:1"))...)
			state, err := r.runner.Run(t.Context(), owner, desired("key", "image:1"))
			if err != nil || state.Complete || !strings.HasPrefix(state.Waiting, test.want) || (test.want == "") != (state.Waiting == "") {
				t.Errorf("state %+v, error %v; want it to wait for %q", state, err, test.want)
			}
			if state.Again != test.wantAgain {
				t.Errorf("looks again after %s, want %s", state.Again, test.wantAgain)
			}
		})
	}
}

func TestEventsAreListedOnlyForAJobWithoutPods(t *testing.T) {
	for name, change := range map[string]func(*batchv1.Job){
		"not started yet":  func(j *batchv1.Job) { j.Status.StartTime = nil },
		"a pod runs":       func(j *batchv1.Job) { j.Status.Active = 1 },
		"a pod has failed": func(j *batchv1.Job) { j.Status.Failed = 1 },
		"a pod is ending":  func(j *batchv1.Job) { j.Status.Terminating = ptr.To(int32(1)) },
		"a pod has ended just now": func(j *batchv1.Job) {
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"a"}}
		},
		"the Job is suspended":        func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) },
		"the Job has ended":           func(j *batchv1.Job) { j.Status.Conditions = []batchv1.JobCondition{condition(batchv1.JobComplete, 0)} },
		"the Job is being taken away": func(j *batchv1.Job) { j.DeletionTimestamp, j.Finalizers = ptr.To(metav1.Now()), []string{"orphan"} },
	} {
		t.Run(name, func(t *testing.T) {
			job := startedWithoutPod(t, "image:1")
			change(job)
			r := newRun(t, job)
			if _, err := r.runner.Run(t.Context(), owner, desired("key", "image:1")); err != nil || r.asked != 0 {
				t.Errorf("asked for events %d times, error %v", r.asked, err)
			}
		})
	}
}

func TestAJobWhosePodIsRefusedIsReplacedWhenItsTemplateChanges(t *testing.T) {
	refused := told("live", "FailedCreate", 0, "no PriorityClass with name high was found")
	r := newRun(t, refused, startedWithoutPod(t, "image:bad"))
	if _, err := r.runner.Run(t.Context(), owner, desired("key", "image:1")); err != nil || len(r.deleted) != 1 {
		t.Errorf("deleted %v, error %v; want it to be replaced", r.deleted, err)
	}
}

func TestAJobWhosePodIsOnALostNodeSaysWhatItWaitsFor(t *testing.T) {
	job := live(t, "key", "image:1")
	pod := podThatFailed("", job)
	pod.Status.ContainerStatuses = nil
	pod.Finalizers, pod.DeletionTimestamp = []string{"batch.kubernetes.io/job-tracking"}, ptr.To(metav1.NewTime(time.Unix(1_000_000, 0)))
	r := newRun(t, job, pod)
	for after, want := range map[time.Duration]State{
		time.Second: {Again: 59 * time.Second},
		time.Hour:   {Waiting: "pod db-sync-x should have ended, and its node"},
	} {
		r.runner.Now = func() time.Time { return time.Unix(1_000_000, 0).Add(after) }
		state, err := r.runner.Run(t.Context(), owner, desired("key", "image:1"))
		if err != nil || state.Complete || state.Again != want.Again || !strings.HasPrefix(state.Waiting, want.Waiting) {
			t.Errorf("%s after the end of its grace period: %+v, error %v; want %+v", after, state, err, want)
		}
	}
}
