package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

func (b *builder) describePod(node *Node, pod *corev1.Pod) {
	node.Kind, node.Text = kindPod, podText(pod)
	trouble, _ := poddiag.Problem([]corev1.Pod{*pod})
	switch {
	case pod.DeletionTimestamp != nil:
		node.State, node.Since, node.Text = StateWaiting, pod.DeletionTimestamp, "terminating"
		return
	case pod.Status.Phase == corev1.PodSucceeded || inventory.IsReady(pod):
		return
	case pod.Status.Phase == corev1.PodFailed || trouble != "":
		node.State = StateFailed
	default:
		node.State = StateWaiting
	}
	node.exhibit = &Exhibit{Kind: kindPod, Name: pod.Name, Problem: cmp.Or(trouble, b.Unready[pod.UID])}
	node.exhibit.Container, node.exhibit.Previous = containerWithLog(pod)
	if event := b.LastWarning(pod.UID); event != nil && node.exhibit.Problem == "" {
		node.exhibit.Problem = fmt.Sprintf("%s: %s", event.Reason, poddiag.Output(event.Message))
	}
	node.exhibit.Problem = cmp.Or(node.exhibit.Problem, node.Text)
}

// podText describes a pod as "kubectl get pods" does.
func podText(pod *corev1.Pod) string {
	restarts, text := int32(0), strings.ToLower(string(pod.Status.Phase))
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		restarts += status.RestartCount
		switch waiting, ended := status.State.Waiting, status.State.Terminated; {
		case waiting != nil && waiting.Reason != "PodInitializing":
			text = cmp.Or(waiting.Reason, text)
		case ended != nil && ended.ExitCode != 0:
			text = fmt.Sprintf("%s, exit code %d", cmp.Or(ended.Reason, "Error"), ended.ExitCode)
		}
	}
	if pod.Status.Phase == corev1.PodRunning && !inventory.IsReady(pod) {
		text += ", not ready"
	}
	if restarts > 0 {
		text += fmt.Sprintf(", %d restarts", restarts)
	}
	return text
}

// containerWithLog returns the container that failed, or else the one that runs
// without being ready.
func containerWithLog(pod *corev1.Pod) (name string, previous bool) {
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for _, status := range statuses {
		switch {
		case status.State.Terminated != nil && status.State.Terminated.ExitCode != 0:
			return status.Name, false
		case status.State.Waiting != nil && status.LastTerminationState.Terminated != nil:
			return status.Name, true
		}
	}
	for _, status := range statuses {
		if status.State.Running != nil && !status.Ready {
			return status.Name, false
		}
	}
	return "", false
}
