// Package pods explains why pods do not run, in words a user can act on.
package pods

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// maxOutput bounds how much of a container's own output a condition quotes.
const maxOutput = 500

var (
	pullReasons  = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable"}
	startReasons = []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff"}

	// credentials matches the user information of a URL: tools like to quote
	// the connection string they failed with.
	credentials = regexp.MustCompile(`://[^/\s@]*@`)
)

// Problem describes the most telling obstacle among the pods, "" when there is
// none. imagePull is true when an image cannot be had, which no waiting mends.
func Problem(list []corev1.Pod) (text string, imagePull bool) {
	sorted := newestFirst(list)
	for i := range sorted {
		if text := pullProblem(&sorted[i]); text != "" {
			return text, true
		}
	}
	for i := range sorted {
		if text := runProblem(&sorted[i]); text != "" {
			return text, false
		}
	}
	return "", false
}

// ExitCode is the first exit code other than 0 of a container, newest pods
// first, and 0 when there is none.
func ExitCode(list []corev1.Pod) int32 {
	sorted := newestFirst(list)
	for i := range sorted {
		for _, status := range statuses(&sorted[i]) {
			if terminated := status.State.Terminated; terminated != nil && terminated.ExitCode != 0 {
				return terminated.ExitCode
			}
		}
	}
	return 0
}

func newestFirst(list []corev1.Pod) []corev1.Pod {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b corev1.Pod) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	return sorted
}

func pullProblem(pod *corev1.Pod) string {
	for _, status := range statuses(pod) {
		if waiting := status.State.Waiting; waiting != nil && slices.Contains(pullReasons, waiting.Reason) {
			return fmt.Sprintf("pod %s cannot pull image %q (%s); check spec.image and that the nodes can reach the registry",
				pod.Name, status.Image, waiting.Reason)
		}
	}
	return ""
}

func runProblem(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return fmt.Sprintf("pod %s cannot be scheduled: %s", pod.Name, condition.Message)
		}
	}
	for _, status := range statuses(pod) {
		if text := containerProblem(pod, status); text != "" {
			return text
		}
	}
	return ""
}

func containerProblem(pod *corev1.Pod, status corev1.ContainerStatus) string {
	terminated := status.State.Terminated
	if terminated == nil {
		terminated = status.LastTerminationState.Terminated
	}
	waiting := status.State.Waiting
	switch {
	case terminated != nil && terminated.ExitCode != 0:
		text := fmt.Sprintf("container %s of pod %s ended with exit code %d", status.Name, pod.Name, terminated.ExitCode)
		if terminated.Reason == "OOMKilled" {
			text += " (out of memory; raise its memory limit)"
		}
		if output := Output(terminated.Message); output != "" {
			text += ": " + output
		}
		return text
	case waiting != nil && slices.Contains(startReasons, waiting.Reason):
		return fmt.Sprintf("container %s of pod %s cannot start (%s): %s", status.Name, pod.Name, waiting.Reason, Output(waiting.Message))
	}
	return ""
}

func statuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// Output shortens what a container printed to its last lines, which name the
// cause in nearly every tool, and blanks credentials in URLs.
func Output(message string) string {
	message = credentials.ReplaceAllString(strings.TrimSpace(message), "://***@")
	if len(message) <= maxOutput {
		return message
	}
	tail := message[len(message)-maxOutput:]
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		tail = tail[i+1:]
	}
	return strings.ToValidUTF8(tail, "")
}
