package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/poddiag"
)

// maxExhibits bounds what is shown: many pods fail for the same reason.
const maxExhibits = 3

// maxLog is how many lines of a log are shown.
const maxLog = 3

// exhibits returns the faulty pods, Jobs and Deployments in the tree of a
// target that is not ready. Those that a cause names come first.
func (b *builder) exhibits(r *Report) []Exhibit {
	if r.Ready {
		return nil
	}
	var found []Exhibit
	visit(r.Tree, func(node Node) {
		if exhibit := b.exhibit(node); exhibit != nil {
			found = append(found, *exhibit)
		}
	})
	found = b.oneOfEachJob(r, found)
	slices.SortStableFunc(found, func(x, y Exhibit) int { return cmp.Compare(rank(r, x), rank(r, y)) })
	return found[:min(len(found), maxExhibits)]
}

// oneOfEachJob leaves out all pods of a Job but one, because a Job that is tried
// again fails for the same reason: the pod that a cause names, or else the last one.
func (b *builder) oneOfEachJob(r *Report, exhibits []Exhibit) []Exhibit {
	kept := exhibits[:0]
	at := map[types.UID]int{}
	for _, exhibit := range exhibits {
		pod := b.pod(exhibit)
		if pod == nil || metav1.GetControllerOf(pod) == nil || metav1.GetControllerOf(pod).Kind != kindJob {
			kept = append(kept, exhibit)
			continue
		}
		run := metav1.GetControllerOf(pod).UID
		i, known := at[run]
		switch {
		case !known:
			at[run] = len(kept)
			kept = append(kept, exhibit)
		case b.explainsMore(r, exhibit, kept[i]):
			kept[i] = exhibit
		}
	}
	return kept
}

// explainsMore reports whether the pod of a Job explains more than another one of the Job.
func (b *builder) explainsMore(r *Report, exhibit, than Exhibit) bool {
	order := cmp.Compare(rank(r, than), rank(r, exhibit))
	return order > 0 || order == 0 && b.pod(than).CreationTimestamp.Before(&b.pod(exhibit).CreationTimestamp)
}

// pod returns the pod that an exhibit is, nil when it is none.
func (b *builder) pod(exhibit Exhibit) *corev1.Pod {
	i := slices.IndexFunc(b.Pods, func(pod corev1.Pod) bool { return exhibit.Kind == kindPod && pod.Name == exhibit.Name })
	if i < 0 {
		return nil
	}
	return &b.Pods[i]
}

func visit(node Node, do func(Node)) {
	do(node)
	for _, child := range node.Children {
		visit(child, do)
	}
}

// rank is lower for what a cause names, and lowest for what it names itself: a name may
// be the beginning of another one, as that of a Job is of its pod's.
func rank(r *Report, exhibit Exhibit) int {
	lowest := 2
	for _, cause := range r.Causes {
		for word := range strings.FieldsSeq(cause.Message) {
			word = strings.Trim(word, `:;,."()`)
			switch {
			case word == exhibit.Name:
				return 0
			case exhibit.Kind == kindPod && word != "" && strings.HasPrefix(exhibit.Name, word+"-"):
				lowest = 1
			}
		}
	}
	return lowest
}

func (b *builder) exhibit(node Node) *Exhibit {
	switch node.Kind {
	case kindPod:
		if i := slices.IndexFunc(b.Pods, func(pod corev1.Pod) bool { return pod.Name == node.Name }); i >= 0 {
			return b.podExhibit(&b.Pods[i])
		}
	case kindJob:
		if i := slices.IndexFunc(b.Jobs, func(run batchv1.Job) bool { return run.Name == node.Name }); i >= 0 {
			return b.jobExhibit(&b.Jobs[i])
		}
	case kindDeployment:
		if i := slices.IndexFunc(b.Deployments, func(d appsv1.Deployment) bool { return d.Name == node.Name }); i >= 0 {
			return deploymentExhibit(&b.Deployments[i])
		}
	}
	return nil
}

func (b *builder) podExhibit(pod *corev1.Pod) *Exhibit {
	if pod.Status.Phase == corev1.PodSucceeded || podReady(pod) || pod.DeletionTimestamp != nil {
		return nil
	}
	exhibit := &Exhibit{Kind: kindPod, Name: pod.Name}
	exhibit.Problem, _ = poddiag.Problem([]corev1.Pod{*pod})
	exhibit.Problem = cmp.Or(exhibit.Problem, b.Unready[pod.UID])
	if exhibit.Problem == "" {
		if event := b.LastEvent(pod.UID); event != nil {
			exhibit.Problem = fmt.Sprintf("%s: %s", event.Reason, poddiag.Output(event.Message))
		}
	}
	exhibit.Problem = cmp.Or(exhibit.Problem, podText(pod))
	exhibit.Container, exhibit.Previous = containerWithLog(pod)
	return exhibit
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

// jobExhibit describes a Job that has no pod to look at, either because none could be
// created or because it no longer exists.
func (b *builder) jobExhibit(run *batchv1.Job) *Exhibit {
	ended, succeeded, _ := job.Ended(run)
	if succeeded || len(b.PodsOwnedBy(run.UID)) > 0 {
		return nil
	}
	exhibit := &Exhibit{Kind: kindJob, Name: run.Name}
	if words := run.Annotations[job.LastWordsAnnotation]; words != "" {
		exhibit.Problem = words
		return exhibit
	}
	if event := b.LastEvent(run.UID); event != nil {
		exhibit.Problem = explainEvent(event)
		return exhibit
	}
	if !ended {
		return nil
	}
	exhibit.Problem = "it failed and its pod no longer exists"
	for _, condition := range run.Status.Conditions {
		if condition.Type == batchv1.JobFailed && condition.Message != "" {
			exhibit.Problem = condition.Message
		}
	}
	return exhibit
}

// eventFailedCreate is the reason of the event in which a controller says why it
// could not create a pod.
const eventFailedCreate = "FailedCreate"

func explainEvent(event *corev1.Event) string {
	if event.Reason == eventFailedCreate {
		return poddiag.Refusal(event.Message)
	}
	return event.Reason + ": " + firstLine(event.Message)
}

func deploymentExhibit(deployment *appsv1.Deployment) *Exhibit {
	for _, condition := range deployment.Status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			return &Exhibit{Kind: kindDeployment, Name: deployment.Name, Problem: poddiag.Refusal(condition.Message)}
		}
	}
	return nil
}

// Quote returns the part of a log that shows the cause: at most three lines,
// without the prefix that oslo.log writes and without credentials in URLs.
func Quote(log string) string {
	lines := strings.Split(poddiag.Output(log), "\n")
	return strings.Join(lines[max(0, len(lines)-maxLog):], "\n")
}
