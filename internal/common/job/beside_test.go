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

func TestAJobWithARunningSidecarStaysSucceeded(t *testing.T) {
	running := live(t, "key", "image:1")
	pod := podThatExited(running, 0)
	addContainer(pod)
	r := newRun(t, running, pod)
	complete := func(after string) {
		t.Helper()
		r.runner.Exits = NewExits()
		state, err := r.runner.Run(t.Context(), owner, desired("key", "image:1"))
		if !state.Complete || err != nil {
			t.Errorf("%s: got %+v and %v", after, state, err)
		}
	}
	complete("the end of its container")
	if at := r.read(t).Annotations[SucceededAnnotation]; at == "" || ptr.Deref(r.read(t).Spec.Suspend, false) {
		t.Errorf("its success is recorded as %q; the pod must stay until what it found is kept", at)
	}
	complete("a restart")
	if !ptr.Deref(r.read(t).Spec.Suspend, false) {
		t.Error("its pod is not ended")
	}
	patched := r.patched
	complete("its pod was ended")
	if r.patched != patched {
		t.Error("it is written in each pass")
	}
	failed := r.read(t)
	failed.Status.Conditions = []batchv1.JobCondition{condition(batchv1.JobFailed, time.Minute)}
	if err := r.runner.Client.Update(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	complete("its deadline")
	state, err := r.runner.Run(t.Context(), owner, desired("another", "image:1"))
	if state.Complete || err != nil || r.created != 1 {
		t.Errorf("with another run key: got %+v, %v and %d new Jobs", state, err, r.created)
	}
}

func TestASidecarThatKeepsAFailedPodRunningIsNamed(t *testing.T) {
	running := live(t, "key", "image:1")
	pod := podThatExited(running, 1)
	addContainer(pod)
	r := newRun(t, running, pod)
	r.runner.Exits = NewExits()
	state, err := r.runner.Run(t.Context(), owner, desired("key", "image:1"))
	for _, want := range []string{"ended with exit code 1", "container proxy of pod " + pod.Name, "still runs"} {
		if err != nil || !strings.Contains(state.Waiting, want) {
			t.Errorf("got %q and %v, want %q", state.Waiting, err, want)
		}
	}
}

func TestAScheduledJobWithARunningSidecarSucceedsAndReplacesTheLast(t *testing.T) {
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	first, second := scheduledJob("first", "flush", time.Hour), scheduledJob("second", "flush", 0)
	first.Annotations = map[string]string{SucceededAnnotation: time.Now().UTC().Format(time.RFC3339)}
	second.UID = "second"
	pod := podOfJob(second, ended, corev1.ContainerState{})
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(second, batchv1.SchemeGroupVersion.WithKind("Job"))}
	own := pod.Status.ContainerStatuses[0].Name
	addContainer(pod)
	r := newRun(t, first, second, pod)
	got, err := r.runner.LastRun(t.Context(), client.ObjectKey{Namespace: namespace, Name: "flush"}, own, nil)
	if got.Job != "" || err != nil {
		t.Errorf("got %+v and %v", got, err)
	}
	var list batchv1.JobList
	if err := r.runner.Client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].Name != "second" || !ptr.Deref(list.Items[0].Spec.Suspend, false) {
		t.Errorf("got %d Jobs: %+v", len(list.Items), list.Items)
	}
}
