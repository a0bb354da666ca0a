// Package poddiag explains why pods do not run, in messages that a user can act on.
package poddiag

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/redact"
)

// startLimit is how long the kubelet may take to set up a pod's network and
// volumes before it is reported. The pod's status never says what is
// missing.
const startLimit = time.Minute

// endLimit is how long after its grace period a pod may take to be gone before it is reported.
const endLimit = time.Minute

// maxOutput bounds how much of a container's own output a condition quotes.
const maxOutput = 500

var (
	// pullReasons are the kubelet's reasons, in turn, while it tries, fails and
	// backs off.
	pullReasons = []string{"ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "SignatureValidationFailed"}

	// imageReasons are the kubelet's reasons when it does not even try.
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
	// the connection string they failed with. A password may hold an @ itself.
	credentials = regexp.MustCompile(`://[^\s'"]*@`)

	// fernetKey matches a key of 32 bytes in Fernet's encoding.
	fernetKey = regexp.MustCompile(`[A-Za-z0-9_-]{43}=`)
)

// Problem describes the most relevant obstacle among the pods that are not being
// deleted, "" if there is none. imagePull is true if an image cannot be
// pulled, which waiting does not fix. The same obstacle always has the same text, on one
// line. The output of a container is quoted without the hidden values.
func Problem(list []corev1.Pod, hidden ...string) (text string, imagePull bool) {
	sorted := Staying(list)
	for i := range sorted {
		if text := pullProblem(&sorted[i]); text != "" {
			return text, true
		}
	}
	for i := range sorted {
		if text := runProblem(&sorted[i], hidden); text != "" {
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

// ExitCode returns the first exit code other than 0 of a container, newest pods
// first, and 0 if there is none. Pods that are being deleted do not count: their
// containers exit on request.
func ExitCode(list []corev1.Pod) int32 {
	sorted := Staying(list)
	for i := range sorted {
		for _, status := range statuses(&sorted[i]) {
			if terminated := status.State.Terminated; terminated != nil && terminated.ExitCode != 0 {
				return terminated.ExitCode
			}
		}
	}
	return 0
}

// Succeeded reports whether the named containers of one of the pods, which must not be
// started again after a success, have all ended with exit code 0. Others do not count: a
// mesh may have added them, and they may never end.
func Succeeded(list []corev1.Pod, names ...string) bool {
	return slices.ContainsFunc(list, func(pod corev1.Pod) bool {
		succeeded := func(name string) bool {
			return slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
				return status.Name == name && status.State.Terminated != nil && status.State.Terminated.ExitCode == 0
			})
		}
		return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !succeeded(name) })
	})
}

// Beside describes a container that somebody has added to the pods and that has not ended
// although the named ones have, "" if there is none.
func Beside(list []corev1.Pod, names ...string) string {
	for _, pod := range Staying(list) {
		ended, other := 0, ""
		for _, status := range pod.Status.ContainerStatuses {
			switch own := slices.Contains(names, status.Name); {
			case own && status.State.Terminated != nil:
				ended++
			case !own && status.State.Terminated == nil:
				other = status.Name
			}
		}
		if other != "" && len(names) > 0 && ended == len(names) {
			return fmt.Sprintf("container %s of pod %s, which is not the operator's, still runs", other, pod.Name)
		}
	}
	return ""
}

// Unconfirmed describes a pod that should have ended and of which its node does not say that
// it has, "" if there is none: a node that is lost or cut off. Nothing runs in its place until
// then, since the pod may still run. again is when a pod that is about to end is to be looked
// at, zero if none is.
func Unconfirmed(list []corev1.Pod, now time.Time) (text string, again time.Duration) {
	for i := range list {
		if list[i].DeletionTimestamp == nil {
			continue
		}
		// The time of a deletion includes the grace period.
		if left := list[i].DeletionTimestamp.Add(endLimit).Sub(now); left > 0 {
			again = max(again, left)
			continue
		}
		return fmt.Sprintf("pod %[1]s should have ended, and its node, which kubectl get pod %[1]s --output=wide names, does not confirm it; "+
			"start the node again or, if it no longer runs, "+
			"kubectl taint node NODE node.kubernetes.io/out-of-service=lost:NoExecute", list[i].Name), 0
	}
	return "", again
}

// Staying returns the pods that are not being deleted, the newest first.
func Staying(list []corev1.Pod) []corev1.Pod {
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
			// Without the reason: a text that alternates would change
			// the condition, and emit an event, each time.
			return fmt.Sprintf("pod %s cannot pull image %q; check spec.image, spec.imagePullSecrets and that the nodes can reach the registry",
				pod.Name, status.Image)
		case slices.Contains(imageReasons, waiting.Reason):
			return fmt.Sprintf("pod %s cannot use image %q (%s); check spec.image", pod.Name, status.Image, waiting.Reason)
		}
	}
	return ""
}

func runProblem(pod *corev1.Pod, hidden []string) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return fmt.Sprintf("pod %s cannot be scheduled: %s", pod.Name, unscheduled(condition.Message))
		}
	}
	for _, status := range statuses(pod) {
		if text := containerProblem(pod, status, hidden); text != "" {
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

func containerProblem(pod *corev1.Pod, status corev1.ContainerStatus, hidden []string) string {
	terminated := status.State.Terminated
	// The last exit of a container that is ready again is no longer an obstacle.
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
		if output := quote(terminated.Message, hidden); output != "" {
			text += ": " + output
		}
		return text
	case waiting != nil && slices.Contains(startReasons, waiting.Reason):
		return fmt.Sprintf("container %s of pod %s cannot start (%s): %s", status.Name, pod.Name, waiting.Reason, quote(waiting.Message, hidden))
	}
	return ""
}

func statuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// teardownNoise is the prefix of what Python prints about partly destroyed objects
// while it exits. It never names a cause.
const teardownNoise = "Exception ignored in:"

// Output reduces the last output of a container to its cause: the last exception
// if it ends in one, else its last lines. Credentials in URLs and Fernet keys are
// redacted.
func Output(message string) string {
	message, _, _ = strings.Cut(colour.ReplaceAllString(message, ""), teardownNoise)
	message = credentials.ReplaceAllString(message, "://"+blank+"@")
	message = fernetKey.ReplaceAllString(message, blank)
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

// blank replaces redacted values.
const blank = "***"

// quote puts the output on one line, without the hidden values. They are redacted
// before anything is cut off: half a password is a secret, too.
func quote(message string, hidden []string) string {
	lines := strings.FieldsFunc(Output(hide(message, hidden)), func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(strings.Map(printable, line))
	}
	return strings.Join(lines, "; ")
}

// printable drops characters that a terminal would act on, or that change the order of display.
func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsPrint(r):
		return r
	}
	return -1
}

// hide redacts the values in all their forms. Long ones go first, because
// one value may be a part of another.
func hide(message string, values []string) string {
	var all []string
	for _, value := range values {
		if value != "" {
			all = append(all, redact.Forms(value)...)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	for _, value := range all {
		message = strings.ReplaceAll(message, value, blank)
	}
	return message
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
