package poddiag

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ReadyPort is the name of the port on which an API pod answers its readiness probe. The
// program behind it logs the reason of each answer that is not 200, because the kubelet
// leaves the reason out of the pod's events.
const ReadyPort = "ready"

// How that program begins the line with a reason, and what it logs once there is none.
const (
	notReady   = "not ready: "
	readyAgain = "ready again"
)

// Unready returns the container of an API pod that runs without being ready, "" if there is
// none.
func Unready(pod *corev1.Pod) string {
	if pod.DeletionTimestamp != nil {
		return ""
	}
	for _, container := range pod.Spec.Containers {
		answers := slices.ContainsFunc(container.Ports, func(port corev1.ContainerPort) bool { return port.Name == ReadyPort })
		waits := func(status corev1.ContainerStatus) bool {
			return status.Name == container.Name && status.State.Running != nil && !status.Ready
		}
		if answers && slices.ContainsFunc(pod.Status.ContainerStatuses, waits) {
			return container.Name
		}
	}
	return ""
}

// UnreadyReason returns the last reason in the log of such a container, "" if there is none
// or the pod has become ready since.
func UnreadyReason(log string) string {
	reason := ""
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if after, found := strings.CutPrefix(line, notReady); found {
			reason = after
		} else if line == readyAgain {
			reason = ""
		}
	}
	return reason
}
