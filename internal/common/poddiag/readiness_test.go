package poddiag

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheUnreadyReasonIsTheLastOneInTheLog(t *testing.T) {
	for log, want := range map[string]string{
		"": "",
		"spawned uWSGI mule 1\nnot ready: No login\nGET /v3 => generated 249 bytes\n": "No login",
		"not ready: No login\nnot ready: No table\n":                                  "No table",
		"not ready: No login\nready again\n":                                          "",
		"not ready: No login\nready again\nnot ready: No table":                       "No table",
	} {
		if got := UnreadyReason(log); got != want {
			t.Errorf("%q: got %q, want %q", log, got, want)
		}
	}
}

func TestOnlyRunningUnreadyAPIPodsHaveAnUnreadyReason(t *testing.T) {
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "sidecar"}, {Name: "harbour", Ports: []corev1.ContainerPort{{Name: ReadyPort}}},
		}}}
		running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "sidecar", State: running}, {Name: "harbour", State: running}}
		change(p)
		return p
	}
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"not ready":   {func(*corev1.Pod) {}, "harbour"},
		"ready":       {func(p *corev1.Pod) { p.Status.ContainerStatuses[1].Ready = true }, ""},
		"starting":    {func(p *corev1.Pod) { p.Status.ContainerStatuses[1].State = corev1.ContainerState{} }, ""},
		"terminating": {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, ""},
		"no API pod":  {func(p *corev1.Pod) { p.Spec.Containers[1].Ports = nil }, ""},
	} {
		if got := Unready(pod(test.change)); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
