package show

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/report"
)

// Report writes a report as text.
func (s Style) Report(out io.Writer, r *report.Report, now time.Time) {
	s.headline(out, r, now)
	s.causes(out, "Waiting for", Red, r.Causes, now)
	s.exhibits(out, r.LookAt, r.Causes)
	s.list(out, "Run next", r.Next)
	s.causes(out, "Warnings", Yellow, r.Warnings, now)
	s.conditions(out, r.Conditions, now)
	s.tree(out, r.Tree, now)
	s.list(out, "Not shown", r.Gaps)
}

// Workloads writes the remaining workloads of a namespace as text.
func (s Style) Workloads(out io.Writer, w report.Workloads, now time.Time) {
	state, colour := "have no problems", Green
	if len(w.LookAt) > 0 {
		state, colour = "have problems", Red
	}
	fmt.Fprintf(out, "Pods, Jobs and Deployments in namespace %s %s\n", s.Paint(Bold, w.Namespace), s.Paint(colour, state))
	s.exhibits(out, w.LookAt, nil)
	s.list(out, "Run next", w.Next)
	if len(w.Events) > 0 {
		s.title(out, "Latest warnings")
		for _, event := range w.Events {
			since := event.At
			fmt.Fprint(out, s.wrap("  ", fmt.Sprintf("%s %s %s: %s", age(&since, now), event.Object, event.Reason, event.Message)))
		}
	}
	s.list(out, "Not shown", w.Gaps)
}

func readiness(r *report.Report) (state string, colour Colour) {
	switch {
	case r.Ready:
		return "is ready", Green
	case stalled(r):
		return "is not ready and needs action", Red
	}
	return "is not ready", Yellow
}

func (s Style) headline(out io.Writer, r *report.Report, now time.Time) {
	state, colour := readiness(r)
	headline := fmt.Sprintf("%s %s in namespace %s %s",
		r.Target.Kind, s.Paint(Bold, r.Target.Name), r.Target.Namespace, s.Paint(colour, state))
	if since := age(r.Since, now); since != "" {
		headline += ", for " + since
	}
	fmt.Fprintln(out, headline)
	var facts [][]cell
	for _, fact := range []struct{ name, value string }{
		{"Release", r.Release}, {"Upgrade to", upgrade(r)}, {"Endpoint", r.Endpoint},
	} {
		if fact.value != "" {
			facts = append(facts, []cell{{text: fact.name}, {text: fact.value}})
		}
	}
	s.table(out, "  ", facts)
}

func upgrade(r *report.Report) string {
	if r.TargetRelease == "" {
		return ""
	}
	return fmt.Sprintf("%s (%s)", r.TargetRelease, r.Phase)
}

func stalled(r *report.Report) bool {
	for _, cause := range r.Causes {
		if cause.Stalled {
			return true
		}
	}
	return false
}

func (s Style) title(out io.Writer, text string) { fmt.Fprintf(out, "\n%s\n", s.Paint(Bold, text)) }

func (s Style) causes(out io.Writer, title string, colour Colour, causes []report.Cause, now time.Time) {
	if len(causes) == 0 {
		return
	}
	s.title(out, title)
	for _, cause := range causes {
		line := fmt.Sprintf("  %s: %s %s", cause.Object, cause.Condition, s.Paint(colour, cause.Reason))
		if since := age(cause.Since, now); since != "" {
			line += ", for " + since
		}
		fmt.Fprintln(out, line)
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
		if !said(causes, exhibit) {
			fmt.Fprint(out, s.wrap("    ", exhibit.Problem))
		}
		if exhibit.Log != "" {
			fmt.Fprintf(out, "    the log of %s ends with:\n", exhibit.Container)
			fmt.Fprint(out, s.wrap("      ", exhibit.Log))
		}
	}
}

// said reports whether a cause has already quoted the problem.
func said(causes []report.Cause, exhibit report.Exhibit) bool {
	return slices.ContainsFunc(causes, func(cause report.Cause) bool { return strings.Contains(cause.Message, exhibit.Problem) })
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

func (s Style) conditions(out io.Writer, conditions []metav1.Condition, now time.Time) {
	if len(conditions) == 0 {
		return
	}
	s.title(out, "Conditions")
	rows := make([][]cell, 0, len(conditions))
	for _, condition := range conditions {
		rows = append(rows, []cell{
			{text: condition.Type},
			{text: string(condition.Status), colour: conditionColour(condition)},
			{text: condition.Reason},
			{text: age(&condition.LastTransitionTime, now), colour: Grey},
		})
	}
	s.table(out, "  ", rows)
}

// conditionColour is green for a good status. Two conditions, those of kstatus,
// are good when they are not True.
func conditionColour(condition metav1.Condition) Colour {
	good := condition.Status == metav1.ConditionTrue
	switch condition.Type {
	case vocabulary.ConditionReconciling:
		return Yellow
	case vocabulary.ConditionStalled:
		good = !good
	}
	if good {
		return Green
	}
	return Red
}

var stateColours = map[report.State]Colour{
	report.StateOK: Green, report.StateWaiting: Yellow, report.StateFailed: Red, report.StateUnknown: Grey,
}

func (s Style) tree(out io.Writer, root report.Node, now time.Time) {
	s.title(out, "Objects")
	s.table(out, "  ", branch(root, "", "", now))
}

// branch returns the rows of a node, which is drawn after first, and of what is below it,
// after rest.
func branch(node report.Node, first, rest string, now time.Time) [][]cell {
	rows := [][]cell{{
		{text: first + node.Kind + "/" + node.Name},
		{text: string(node.State), colour: stateColours[node.State]},
		{text: age(node.Since, now), colour: Grey},
		{text: node.Text},
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
