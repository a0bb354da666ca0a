package pages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/c5c3/forge/internal/common/testutil/source"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// WriteVocabularies writes for each kind the page of its conditions, reasons and
// events into a folder, together with the index for the search. The comments of the
// constants become the descriptions; the names of the constants begin with
// Condition, Reason or Event.
func (p Page) WriteVocabularies(folder string, kinds []vocabulary.Kind, constants []source.Constant) error {
	for _, said := range kinds {
		if err := p.writeVocabularyFiles(folder, said, constants); err != nil {
			return err
		}
	}
	return nil
}

func (p Page) writeVocabularyFiles(folder string, said vocabulary.Kind, constants []source.Constant) error {
	p.Title = said.Kind + " conditions and events"
	var page, index bytes.Buffer
	if err := errors.Join(p.writeVocabulary(&page, said, constants), writeIndex(&index, said, constants)); err != nil {
		return err
	}
	path := filepath.Join(folder, strings.ToLower(said.Kind)+"-conditions")
	return errors.Join(
		os.WriteFile(path+".md", page.Bytes(), 0o644),
		os.WriteFile(path+".json", index.Bytes(), 0o644),
	)
}

// writeVocabulary writes the conditions and events of a kind as Markdown. It fails
// if a word has no documented constant.
func (p Page) writeVocabulary(w io.Writer, said vocabulary.Kind, constants []source.Constant) error {
	v := newExplanation(constants)
	fmt.Fprintf(&v.out, "<!-- Written by %s. Do not edit. -->\n\n# %s\n", p.Command, p.Title)
	v.out.WriteString("\nA reason is stable, so alerts and scripts may rely on it. The message next to it gives the details.\n" +
		"Besides the reasons below, every condition can be False with `ReconcileError`: look at the error in the message; the\n" +
		"operator retries.\n")
	for _, condition := range said.Conditions {
		v.writeCondition(condition)
	}
	if len(said.Events) > 0 {
		v.writeEvents(said.Events)
	}
	if v.err != nil {
		return v.err
	}
	_, err := w.Write(v.out.Bytes())
	return err
}

func (v *explanation) writeCondition(condition vocabulary.Condition) {
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

func (v *explanation) writeEvents(events []vocabulary.Event) {
	v.out.WriteString("\n## Events\n\n| Type | Reason | What happened, or what to do |\n|---|---|---|\n")
	for _, event := range events {
		fmt.Fprintf(&v.out, "| %s | `%s` | %s |\n", event.Type, event.Reason, cell(v.meaning(kindEvent, event.Reason)))
	}
}
