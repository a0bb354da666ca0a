package reference

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Condition is a condition type with the reasons it has by status.
type Condition struct {
	Type        string
	Aggregated  bool
	True, False []string
}

// Event is the reason of an event and its type, Normal or Warning.
type Event struct {
	Reason, Type string
}

// kind is what a constant is a word for. Its name begins with it.
type kind string

const (
	kindCondition kind = "Condition"
	kindReason    kind = "Reason"
	kindEvent     kind = "Event"
)

// word is a value of a kind: a condition, a reason and an event may share one.
type word struct {
	kind  kind
	value string
}

// WriteVocabulary writes the conditions and events of a kind as Markdown. What
// each word means comes from the constants, whose names begin with Condition,
// Reason or Event; it fails when a word has none.
func (p Page) WriteVocabulary(w io.Writer, conditions []Condition, events []Event, constants []Constant) error {
	v := vocabulary{meanings: map[word]string{}}
	for _, constant := range constants {
		for _, kind := range []kind{kindCondition, kindReason, kindEvent} {
			if strings.HasPrefix(constant.Name, string(kind)) {
				v.meanings[word{kind, constant.Value}] = constant.Meaning
			}
		}
	}
	fmt.Fprintf(&v.out, "<!-- Written by %s. Do not edit. -->\n\n# %s\n", p.Command, p.Title)
	v.out.WriteString("\nA reason is stable, so alerts and scripts may rely on it. The message beside it says the details.\n" +
		"Besides the reasons below, every condition can be False with `ReconcileError`: look at the error in the message; the\n" +
		"operator tries again.\n")
	for _, condition := range conditions {
		v.writeCondition(condition)
	}
	if len(events) > 0 {
		v.writeEvents(events)
	}
	if v.err != nil {
		return v.err
	}
	_, err := w.Write(v.out.Bytes())
	return err
}

type vocabulary struct {
	meanings map[word]string
	out      bytes.Buffer
	err      error
}

func (v *vocabulary) meaning(kind kind, value string) string {
	meaning, ok := v.meanings[word{kind, value}]
	if !ok && v.err == nil {
		v.err = fmt.Errorf("no constant %s... tells what %q means", kind, value)
	}
	return meaning
}

func (v *vocabulary) writeCondition(condition Condition) {
	fmt.Fprintf(&v.out, "\n## %s\n\n%s\n", condition.Type, v.meaning(kindCondition, condition.Type))
	if condition.Aggregated {
		v.out.WriteString("Ready needs it to be True.\n")
	}
	v.out.WriteString("\n| Status | Reason | What to do |\n|---|---|---|\n")
	for _, reason := range condition.True {
		fmt.Fprintf(&v.out, "| True | `%s` | %s |\n", reason, cell(v.meaning(kindReason, reason)))
	}
	for _, reason := range condition.False {
		fmt.Fprintf(&v.out, "| False | `%s` | %s |\n", reason, cell(v.meaning(kindReason, reason)))
	}
}

func (v *vocabulary) writeEvents(events []Event) {
	v.out.WriteString("\n## Events\n\n| Type | Reason | What happened, or what to do |\n|---|---|---|\n")
	for _, event := range events {
		fmt.Fprintf(&v.out, "| %s | `%s` | %s |\n", event.Type, event.Reason, cell(v.meaning(kindEvent, event.Reason)))
	}
}
