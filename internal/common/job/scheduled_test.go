package job

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scheduledJob is a Job that the CronJob started the given time ago.
func scheduledJob(name, cronJob string, ago time.Duration, conditions ...batchv1.JobCondition) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{managedBy: "keystone-operator"},
			CreationTimestamp: metav1.NewTime(time.Unix(1_000_000, 0).Add(-ago)),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(
				&batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: cronJob, UID: "cron"}}, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Status: batchv1.JobStatus{Conditions: conditions},
	}
}

// podOfJob is a pod of the Job with its container in the given state.
func podOfJob(job *batchv1.Job, state, last corev1.ContainerState) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: job.Name + "-x", Labels: map[string]string{batchv1.JobNameLabel: job.Name}},
		Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "flush", State: state, LastTerminationState: last}}},
	}
}

func TestAFailedCronJobRunCountsUntilALaterOneSucceeds(t *testing.T) {
	failed, complete := condition(batchv1.JobFailed, 0), condition(batchv1.JobComplete, 0)
	running := scheduledJob("running", "flush", 0)
	remembering := scheduledJob("b", "flush", time.Minute, failed)
	remembering.Annotations = map[string]string{LastWordsAnnotation: "Access denied"}
	leaving := scheduledJob("b", "flush", time.Minute, failed)
	leaving.DeletionTimestamp, leaving.Finalizers = ptr.To(metav1.Now()), []string{"orphan"}
	waits := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: "no answer"}}
	noImage := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
	for name, test := range map[string]struct {
		objects []client.Object
		want    LastRun
	}{
		"none":               {},
		"one that succeeded": {objects: []client.Object{scheduledJob("a", "flush", 0, complete)}},
		"one that failed": {
			objects: []client.Object{scheduledJob("a", "flush", 0, failed)},
			want:    LastRun{Job: "a", Failed: true, Text: "BackoffLimitExceeded"},
		},
		"one that failed after one that succeeded": {
			objects: []client.Object{scheduledJob("a", "flush", time.Hour, complete), remembering},
			want:    LastRun{Job: "b", Failed: true, Text: "Access denied"},
		},
		"one that succeeded after one that failed": {
			objects: []client.Object{remembering, scheduledJob("c", "flush", 0, complete)},
		},
		"one that runs after one that failed": {
			objects: []client.Object{remembering, running}, want: LastRun{Job: "b", Failed: true, Text: "Access denied"},
		},
		"one that tries again": {objects: []client.Object{running, podOfJob(running, waits, ended)}},
		"one that has no image": {
			objects: []client.Object{running, podOfJob(running, noImage, ended)}, want: LastRun{Job: "running", Text: "cannot pull image"},
		},
		"one that failed and is deleted":         {objects: []client.Object{leaving}},
		"one of another CronJob that failed":     {objects: []client.Object{scheduledJob("a", "rotate", 0, failed)}},
		"one without the labels of this CronJob": {objects: []client.Object{unlabelled(remembering)}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, test.objects...)
			got, err := r.runner.LastRun(t.Context(), client.ObjectKey{Namespace: namespace, Name: "flush"}, "flush",
				map[string]string{managedBy: "keystone-operator"})
			if got.Job != test.want.Job || got.Failed != test.want.Failed || !strings.Contains(got.Text, test.want.Text) || err != nil {
				t.Errorf("got %+v, error %v; want %+v", got, err, test.want)
			}
		})
	}
}

func unlabelled(job *batchv1.Job) *batchv1.Job {
	job = job.DeepCopy()
	job.Labels = nil
	return job
}

func TestPodOutputIsRecordedOnceBeforeItsJobFails(t *testing.T) {
	running := scheduledJob("running", "flush", 0)
	r := newRun(t, running, podOfJob(running, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: "Access denied at mysql://keystone:s3cret@db"}}))
	for range 2 {
		if _, err := r.runner.LastRun(t.Context(), client.ObjectKey{Namespace: namespace, Name: "flush"}, "flush", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.runner.Client.Get(t.Context(), client.ObjectKeyFromObject(running), running); err != nil {
		t.Fatal(err)
	}
	words := running.Annotations[LastWordsAnnotation]
	if r.patched != 1 || !strings.Contains(words, "Access denied") || strings.Contains(words, "s3cret") {
		t.Errorf("patched %d times, wrote %q", r.patched, words)
	}
}
