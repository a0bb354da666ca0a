package pages

import (
	"encoding/json"
	"io"

	"github.com/c5c3/forge/internal/common/testutil/source"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// entry is one reason or event of a kind, as the search shows it.
type entry struct {
	Kind      string `json:"kind"`
	Condition string `json:"condition,omitempty"`
	Status    string `json:"status,omitempty"`
	Event     string `json:"event,omitempty"`
	Reason    string `json:"reason"`
	Meaning   string `json:"meaning"`
}

// reasons returns an entry for each reason of a status of a condition.
func (v *explanation) reasons(kind, condition, status string, reasons []string) []entry {
	entries := make([]entry, len(reasons))
	for i, reason := range reasons {
		entries[i] = entry{
			Kind: kind, Condition: condition, Status: status, Reason: reason, Meaning: v.meaning(kindReason, reason),
		}
	}
	return entries
}

// writeIndex writes the vocabulary as JSON, for a search: a list with an entry for each
// reason of each condition and for each event.
func writeIndex(w io.Writer, said vocabulary.Kind, constants []source.Constant) error {
	v := newExplanation(constants)
	var entries []entry
	for _, condition := range said.Conditions {
		entries = append(entries, v.reasons(said.Kind, condition.Type, "True", condition.True)...)
		entries = append(entries, v.reasons(said.Kind, condition.Type, "False", condition.False)...)
	}
	for _, event := range said.Events {
		entries = append(entries, entry{
			Kind: said.Kind, Event: event.Type, Reason: event.Reason, Meaning: v.meaning(kindEvent, event.Reason),
		})
	}
	if v.err != nil {
		return v.err
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(entries)
}
