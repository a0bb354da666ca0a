package show

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/report"
)

// age returns how long ago something was, in kubectl's format. A time from
// another clock may be in the future.
func age(since *metav1.Time, now time.Time) string {
	if since == nil || since.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(now.Sub(since.Time), 0))
}

// Report writes a report as text.
func (s Style) Report(out io.Writer, r *report.Report, now time.Time) {
	s.headline(out, r, now)
	s.causes(out, "Waiting for", Red, r.Causes, now)
	s.exhibits(out, r.LookAt, r.Causes)
	s.list(out, "Run next", r.Next)
	s.causes(out, "Warnings", Yellow, r.Warnings, now)
	s.list(out, "Overridden global options", r.Overridden)
	if len(r.Conditions) > 0 {
		s.title(out, "Conditions")
		s.conditions(out, r.Conditions, now)
	}
	s.title(out, "Objects")
	s.table(out, "  ", branch(r.Tree, "", "", now))
	s.list(out, "Not shown", r.Gaps)
}

// Workloads writes the remaining workloads of a namespace as text.
func (s Style) Workloads(out io.Writer, w report.Workloads, now time.Time) {
	state := s.Paint(Green, "have no problems")
	if len(w.LookAt) > 0 {
		state = s.Paint(Red, "have problems")
	}
	fmt.Fprintf(out, "Pods, Jobs and Deployments in namespace %s %s\n", s.Paint(Bold, w.Namespace), state)
	s.exhibits(out, w.LookAt, nil)
	s.list(out, "Run next", w.Next)
	events := make([]string, 0, len(w.Events))
	for _, event := range w.Events {
		text := fmt.Sprintf("%s %s %s: %s", age(&event.At, now), event.Object, event.Reason, event.Message)
		events = append(events, strings.TrimSpace(s.wrap("  ", text)))
	}
	s.list(out, "Latest warnings", events)
	s.list(out, "Not shown", w.Gaps)
}

func (s Style) headline(out io.Writer, r *report.Report, now time.Time) {
	state := s.Paint(Yellow, "is not ready")
	switch {
	case r.Ready:
		state = s.Paint(Green, "is ready")
	case slices.ContainsFunc(r.Causes, func(c report.Cause) bool { return c.Stalled }):
		state = s.Paint(Red, "is not ready and needs action")
	}
	name := s.Paint(Bold, r.Target.Name)
	fmt.Fprintf(out, "%s %s in namespace %s %s%s\n", r.Target.Kind, name, r.Target.Namespace, state, forTime(r.Since, now))
	upgrade := ""
	if r.TargetRelease != "" {
		upgrade = fmt.Sprintf("%s (%s)", r.TargetRelease, r.Phase)
	}
	var facts [][]cell
	for _, fact := range [][2]string{{"Release", r.Release}, {"Upgrade to", upgrade}, {"Endpoint", r.Endpoint}} {
		if fact[1] != "" {
			facts = append(facts, []cell{{text: fact[0]}, {text: fact[1]}})
		}
	}
	s.table(out, "  ", facts)
}

func forTime(since *metav1.Time, now time.Time) string {
	if text := age(since, now); text != "" {
		return ", for " + text
	}
	return ""
}

func (s Style) title(out io.Writer, text string) { fmt.Fprintf(out, "\n%s\n", s.Paint(Bold, text)) }

func (s Style) causes(out io.Writer, title string, colour Colour, causes []report.Cause, now time.Time) {
	if len(causes) == 0 {
		return
	}
	s.title(out, title)
	for _, cause := range causes {
		fmt.Fprintf(out, "  %s: %s %s%s\n", cause.Object, cause.Condition, s.Paint(colour, cause.Reason), forTime(cause.Since, now))
		if cause.Message != "" {
			fmt.Fprint(out, s.wrap("    ", cause.Message))
		}
	}
}

func (s Style) exhibits(out io.Writer, exhibits []report.Exhibit, causes []report.Cause) {
	if len(exhibits) == 0 {
		return
	}
	s.title(out, "Look at")
	for _, exhibit := range exhibits {
		fmt.Fprintf(out, "  %s %s\n", exhibit.Kind, s.Paint(Bold, exhibit.Name))
		if !slices.ContainsFunc(causes, func(cause report.Cause) bool { return strings.Contains(cause.Message, exhibit.Problem) }) {
			fmt.Fprint(out, s.wrap("    ", exhibit.Problem))
		}
		if exhibit.Log != "" {
			fmt.Fprintf(out, "    the log of %s ends with:\n%s", exhibit.Container, s.wrap("      ", exhibit.Log))
		}
	}
}

func (s Style) list(out io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	s.title(out, title)
	for _, line := range lines {
		fmt.Fprintf(out, "  %s\n", line)
	}
}

// conditions are green when they are good. Those that are only present while they are True are not.
func (s Style) conditions(out io.Writer, conditions []metav1.Condition, now time.Time) {
	rows := make([][]cell, 0, len(conditions))
	for _, condition := range conditions {
		colour := StateColour(string(condition.Status))
		switch {
		case condition.Type == vocabulary.ConditionReconciling, condition.Type == vocabulary.ConditionPaused:
			colour = Yellow
		case condition.Type == vocabulary.ConditionStalled && condition.Status == metav1.ConditionTrue:
			colour = Red
		}
		rows = append(rows, []cell{
			{text: condition.Type}, {string(condition.Status), colour}, {text: condition.Reason}, {age(&condition.LastTransitionTime, now), Grey},
		})
	}
	s.table(out, "  ", rows)
}

// branch returns the rows of a node, which is drawn after first, and of what is below it,
// after rest.
func branch(node report.Node, first, rest string, now time.Time) [][]cell {
	state := string(node.State)
	rows := [][]cell{{
		{text: first + node.Kind + "/" + node.Name}, {state, StateColour(state)}, {age(node.Since, now), Grey}, {text: node.Text},
	}}
	for i, child := range node.Children {
		if i == len(node.Children)-1 {
			rows = append(rows, branch(child, rest+"└─ ", rest+"   ", now)...)
		} else {
			rows = append(rows, branch(child, rest+"├─ ", rest+"│  ", now)...)
		}
	}
	return rows
}
