package report

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/poddiag"
)

// Exhibit is an object that explains a cause, such as a pod.
type Exhibit struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Problem says what is wrong with it.
	Problem string `json:"problem"`
	// Log is the last relevant part of its log, when there is one.
	Log string `json:"log,omitempty"`

	// Container is the one with the most relevant log, "" if there is none.
	Container string `json:"container,omitempty"`
	// Previous is set when the log is that of the instance before the last restart.
	Previous bool `json:"previous,omitempty"`

	// group is that of the kind, "" for built-in kinds, and remedy the command that helps, if one does.
	group, remedy string
}

// Kinds of exhibits and nodes.
const (
	kindPod        = "Pod"
	kindJob        = "Job"
	kindCronJob    = "CronJob"
	kindDeployment = "Deployment"
)

const (
	// maxExhibits bounds what is shown: many pods fail for the same reason.
	maxExhibits = 3
	// maxLog is how many lines of a log are shown.
	maxLog = 3
	// maxEvents is how many warnings are shown.
	maxEvents = 10
)

// command returns the one that shows more.
func (e Exhibit) command(namespace string) string {
	switch {
	case e.remedy != "":
		return kubectl(namespace, "%s", e.remedy)
	case e.Previous:
		return kubectl(namespace, "logs %s -c %s --previous", e.Name, e.Container)
	case e.Container != "":
		return kubectl(namespace, "logs %s -c %s", e.Name, e.Container)
	}
	return kubectl(namespace, "describe %s %s", strings.Trim(strings.ToLower(e.Kind)+"."+e.group, "."), e.Name)
}

// exhibits returns the faulty objects in a tree, those that a cause names first.
func exhibits(root Node, causes []Cause) []Exhibit {
	found := faults(root, causes)
	return found[:min(len(found), maxExhibits)]
}

// faults returns the faulty objects in a tree in their order. Of the pods of a Job it is only one.
func faults(node Node, causes []Cause) (found []Exhibit) {
	for _, child := range node.Children {
		found = append(found, faults(child, causes)...)
	}
	if node.exhibit != nil {
		found = append([]Exhibit{*node.exhibit}, found...)
	}
	slices.SortStableFunc(found, func(x, y Exhibit) int { return cmp.Compare(rank(x, causes), rank(y, causes)) })
	if node.Kind == kindJob {
		return found[:min(len(found), 1)]
	}
	return found
}

// rank is lower for what a cause names, and lowest for what it names itself: a name may
// be the beginning of another one, as that of a Job is of its pod's.
func rank(exhibit Exhibit, causes []Cause) int {
	lowest := 2
	for _, cause := range causes {
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

// jobExhibit describes a Job that has no pod to look at, either because none could be
// created or because it no longer exists.
func (b *builder) jobExhibit(run *batchv1.Job, ended bool) *Exhibit {
	exhibit := &Exhibit{Kind: kindJob, Name: run.Name, Problem: run.Annotations[job.LastWordsAnnotation]}
	event := b.LastWarning(run.UID)
	switch {
	case len(b.PodsOwnedBy(run.UID)) > 0:
		return nil
	case exhibit.Problem != "":
	case event != nil && event.Reason == "FailedCreate":
		exhibit.Problem = poddiag.Refusal(event.Message)
	case event != nil:
		exhibit.Problem = event.Reason + ": " + poddiag.Output(event.Message)
	case !ended:
		return nil
	default:
		exhibit.Problem = "it failed and its pod no longer exists"
		for _, condition := range run.Status.Conditions {
			if condition.Type == batchv1.JobFailed && condition.Message != "" {
				exhibit.Problem = condition.Message
			}
		}
	}
	return exhibit
}

// Quote returns the part of a log that shows the cause: at most three lines,
// without the prefix that oslo.log writes and without credentials in URLs.
func Quote(log string) string {
	lines := strings.Split(poddiag.Output(log), "\n")
	return strings.Join(lines[max(0, len(lines)-maxLog):], "\n")
}
