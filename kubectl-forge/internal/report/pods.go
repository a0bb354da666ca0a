package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/poddiag"
)

func podNode(pod *corev1.Pod) Node {
	created := pod.CreationTimestamp
	node := Node{Kind: kindPod, Name: pod.Name, State: StateWaiting, Text: podText(pod), Since: &created}
	switch {
	case pod.DeletionTimestamp != nil:
		node.Since = pod.DeletionTimestamp
	case pod.Status.Phase == corev1.PodSucceeded || podReady(pod):
		node.State = StateOK
	case pod.Status.Phase == corev1.PodFailed || problem(pod) != "":
		node.State = StateFailed
	}
	return node
}

func problem(pod *corev1.Pod) string {
	text, _ := poddiag.Problem([]corev1.Pod{*pod})
	return text
}

// trouble returns why a container does not run, "" if it does or has ended as it should.
func trouble(state corev1.ContainerState) string {
	switch {
	case state.Waiting != nil && state.Waiting.Reason != "PodInitializing":
		return state.Waiting.Reason
	case state.Terminated != nil && state.Terminated.ExitCode != 0:
		return fmt.Sprintf("%s, exit code %d", cmp.Or(state.Terminated.Reason, "Error"), state.Terminated.ExitCode)
	}
	return ""
}

// podText describes a pod as "kubectl get pods" does.
func podText(pod *corev1.Pod) string {
	if pod.DeletionTimestamp != nil {
		return "terminating"
	}
	restarts := int32(0)
	text := strings.ToLower(string(pod.Status.Phase))
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		restarts += status.RestartCount
		text = cmp.Or(trouble(status.State), text)
	}
	if pod.Status.Phase == corev1.PodRunning && !podReady(pod) {
		text += ", not ready"
	}
	if restarts > 0 {
		text += fmt.Sprintf(", %d restarts", restarts)
	}
	return text
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
