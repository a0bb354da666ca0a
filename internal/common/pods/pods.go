// Package pods explains why pods do not run, in words a user can act on.
package pods

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// startLimit is how long the kubelet may take to set up a pod's network and
// volumes before that is worth a word. The pod's status never says what is
// missing.
const startLimit = time.Minute

// maxOutput bounds how much of a container's own output a condition quotes.
const maxOutput = 500

var (
	// pullReasons are what the kubelet gives in turn while it tries, fails and
	// backs off.
	pullReasons = []string{"ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "SignatureValidationFailed"}

	// imageReasons are what the kubelet gives when it does not even try.
	imageReasons = []string{"InvalidImageName", "ErrImageNeverPull"}

	startReasons = []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff"}

	// colour matches the escape sequences of coloured output.
	colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

	// logPrefix matches what oslo.log writes before the message: time, process,
	// level, logger and request.
	logPrefix = regexp.MustCompile(`^\d{4}-\d\d-\d\d [\d:.]+ \d+ [A-Z]+ [\w.]+( \[[^\]]*\])?\s*`)

	// exception matches the last line of a Python traceback, which names the
	// cause.
	exception = regexp.MustCompile(`^([\w.]*\.)?[A-Z]\w*(Error|Exception|Failure)\b.*: `)

	// credentials matches the user information of a URL: tools like to quote
	// the connection string they failed with.
	credentials = regexp.MustCompile(`://[^/\s@]*@`)
)

// Problem describes the most telling obstacle among the pods that are not being
// deleted, "" when there is none. imagePull is true when an image cannot be
// had, which no waiting mends. The same obstacle always reads the same.
func Problem(list []corev1.Pod) (text string, imagePull bool) {
	sorted := stayingNewestFirst(list)
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
	for i := range sorted {
		if text := startProblem(&sorted[i]); text != "" {
			return text, false
		}
	}
	return "", false
}

// ExitCode is the first exit code other than 0 of a container, newest pods
// first, and 0 when there is none. Pods that are being deleted do not count:
// their containers end because they are told to.
func ExitCode(list []corev1.Pod) int32 {
	sorted := stayingNewestFirst(list)
	for i := range sorted {
		for _, status := range statuses(&sorted[i]) {
			if terminated := status.State.Terminated; terminated != nil && terminated.ExitCode != 0 {
				return terminated.ExitCode
			}
		}
	}
	return 0
}

func stayingNewestFirst(list []corev1.Pod) []corev1.Pod {
	sorted := slices.DeleteFunc(slices.Clone(list), func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	slices.SortStableFunc(sorted, func(a, b corev1.Pod) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	return sorted
}

func pullProblem(pod *corev1.Pod) string {
	for _, status := range statuses(pod) {
		waiting := status.State.Waiting
		switch {
		case waiting == nil:
			continue
		case slices.Contains(pullReasons, waiting.Reason):
			// Without the reason: a text that alternates would be a change of
			// the condition, and an event, at each turn.
			return fmt.Sprintf("pod %s cannot pull image %q; check spec.image, spec.imagePullSecrets and that the nodes can reach the registry",
				pod.Name, status.Image)
		case slices.Contains(imageReasons, waiting.Reason):
			return fmt.Sprintf("pod %s cannot use image %q (%s); check spec.image", pod.Name, status.Image, waiting.Reason)
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

func startProblem(pod *corev1.Pod) string {
	started := pod.Status.StartTime
	if started == nil || time.Since(started.Time) < startLimit {
		return ""
	}
	for _, status := range statuses(pod) {
		if waiting := status.State.Waiting; waiting != nil && waiting.Reason == "ContainerCreating" {
			return fmt.Sprintf("pod %s waits for a volume or its network; its events, as kubectl describe pod shows them, say what is missing",
				pod.Name)
		}
	}
	return ""
}

func containerProblem(pod *corev1.Pod, status corev1.ContainerStatus) string {
	terminated := status.State.Terminated
	// What a container that is ready again died of is no obstacle any more.
	if terminated == nil && (status.State.Running == nil || !status.Ready) {
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

// teardownNoise begins what Python prints about objects it finds in pieces
// while it exits. It never names a cause.
const teardownNoise = "Exception ignored in:"

// Output reduces what a container printed last to its cause: the last exception
// if it ends in one, else its last lines. Credentials in URLs are blanked.
func Output(message string) string {
	message, _, _ = strings.Cut(colour.ReplaceAllString(message, ""), teardownNoise)
	message = credentials.ReplaceAllString(message, "://***@")
	lines := strings.Split(strings.TrimSpace(message), "\n")
	cause := -1
	for i := range lines {
		lines[i] = strings.TrimRight(logPrefix.ReplaceAllString(lines[i], ""), " ")
		if exception.MatchString(lines[i]) {
			cause = i
		}
	}
	if cause >= 0 {
		return strings.ToValidUTF8(truncate(lines[cause]), "")
	}
	return strings.ToValidUTF8(tail(strings.Join(lines, "\n")), "")
}

func truncate(text string) string {
	if len(text) <= maxOutput {
		return text
	}
	return text[:maxOutput] + "…"
}

func tail(text string) string {
	if len(text) <= maxOutput {
		return text
	}
	text = text[len(text)-maxOutput:]
	if i := strings.IndexByte(text, '\n'); i >= 0 && i < len(text)-1 {
		text = text[i+1:]
	}
	return text
}
