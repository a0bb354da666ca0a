// Package show writes reports for people and for programs.
package show

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/report"
	"github.com/c5c3/forge/kubectl-forge/internal/verify"
)

// Formats are the values of the flag --output.
var Formats = []string{"table", "json", "yaml"}

// Write writes the document in the format, with the function if that is the
// table.
func Write(out io.Writer, format string, document any, table func(io.Writer)) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(document)
	case "yaml":
		encoded, err := yaml.Marshal(document)
		if err == nil {
			_, err = out.Write(encoded)
		}
		return err
	}
	table(out)
	return nil
}

// Style describes what the output supports.
type Style struct {
	// Terminal is set if text can be redrawn.
	Terminal bool
	// Colour is set if escape sequences are understood.
	Colour bool
	// Width is the number of columns, 0 when lines may have any length.
	Width int
}

// StyleOf returns the style of a writer. Only a terminal gets colours, and none
// when NO_COLOR is set (https://no-color.org) or the terminal is a dumb one.
func StyleOf(out io.Writer) Style {
	file, isFile := out.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return Style{}
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 0
	}
	dumb := os.Getenv("TERM") == "dumb"
	return Style{Terminal: !dumb, Colour: !dumb && os.Getenv("NO_COLOR") == "", Width: width}
}

// Colour is a colour of a terminal.
type Colour int

// The colours.
const (
	Plain  Colour = 0
	Bold   Colour = 1
	Red    Colour = 31
	Green  Colour = 32
	Yellow Colour = 33
	Grey   Colour = 90
)

// colours are those of the states, results and statuses that are shown. All others are yellow.
var colours = map[string]Colour{
	"OK": Green, "True": Green, "Done": Green, "Failed": Red, "False": Red, "Unknown": Grey,
}

// StateColour returns the colour of a state, a result or a status.
func StateColour(state string) Colour {
	if colour, known := colours[state]; known {
		return colour
	}
	return Yellow
}

// Paint colours the text if the style has colours.
func (s Style) Paint(colour Colour, text string) string {
	if !s.Colour || colour == Plain || text == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, text)
}

// wrap breaks the text into lines of the style's width that start with the
// indentation. A word that is too long stays whole, so that it can be copied.
func (s Style) wrap(indent, text string) string {
	var out strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			switch {
			case line == "":
				line = indent + word
			case s.Width > 0 && utf8.RuneCountInString(line+" "+word) > s.Width:
				out.WriteString(line + "\n")
				line = indent + word
			default:
				line += " " + word
			}
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// cell is a part of a row, padded before it is painted.
type cell struct {
	text   string
	colour Colour
}

// table writes rows in columns of equal width.
func (s Style) table(out io.Writer, indent string, rows [][]cell) {
	widths := map[int]int{}
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			line.WriteString(s.Paint(c.colour, c.text) + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)+2))
		}
		fmt.Fprintln(out, indent+strings.TrimRight(line.String(), " "))
	}
}

// Findings writes the findings as a table.
func (s Style) Findings(out io.Writer, findings []check.Finding) {
	rows := make([][]cell, 0, len(findings))
	for _, finding := range findings {
		result := string(finding.Result)
		rows = append(rows, []cell{{result, StateColour(result)}, {text: finding.Name}, {text: finding.Text}})
	}
	s.table(out, "", rows)
}

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

// conditions are green when they are good. Two of them, those of kstatus, are good when they are not True.
func (s Style) conditions(out io.Writer, conditions []metav1.Condition, now time.Time) {
	rows := make([][]cell, 0, len(conditions))
	for _, condition := range conditions {
		colour := StateColour(string(condition.Status))
		switch {
		case condition.Type == vocabulary.ConditionReconciling:
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

// Step writes one step of a verification, as soon as it has ended. Its columns have fixed widths.
func (s Style) Step(out io.Writer, step verify.Step) {
	result := s.Paint(StateColour(string(step.Result)), fmt.Sprintf("%-7s", step.Result))
	fmt.Fprintf(out, "%s  %-36s  %6.2f s  %s\n", result, step.Name, step.Seconds, step.Text)
}

// Verified writes what a verification has come to.
func (s Style) Verified(out io.Writer, r verify.Report) {
	result := s.Paint(Green, fmt.Sprintf("all %d checks passed", len(r.Checks))) + fmt.Sprintf(" in %.2f s", r.Seconds)
	if !r.Passed {
		result = s.Paint(Red, fmt.Sprintf("%d of %d checks did not pass", r.Failed(), len(r.Checks)))
	}
	fmt.Fprintf(out, "%s in namespace %s: %s\n", r.Target.Arg(), r.Target.Namespace, result)
}
