package pages

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/c5c3/forge/internal/common/metric"
)

// WriteMetrics writes the metrics of an operator as Markdown. It fails if two
// metrics have the same name, if a metric or a label has no description, or if a
// label has two.
func (p Page) WriteMetrics(w io.Writer, definitions []metric.Definition) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "<!-- Written by %s. Do not edit. -->\n\n# %s\n", p.Command, p.Title)
	out.WriteString("\nSeries about a resource end with it. Those come from the leader alone, and values about time are computed at\n" +
		"the scrape.\n\n| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n")
	seen, meanings := map[string]bool{}, map[string]string{}
	var labels []string
	for _, d := range definitions {
		if d.Help == "" || seen[d.Name] {
			return fmt.Errorf("metric %s must be defined once, with a help text", d.Name)
		}
		seen[d.Name] = true
		for _, label := range d.Labels {
			known, ok := meanings[label.Name]
			if label.Meaning == "" || ok && known != label.Meaning {
				return fmt.Errorf("label %s of metric %s must have one meaning", label.Name, d.Name)
			}
			if !ok {
				labels = append(labels, label.Name)
			}
			meanings[label.Name] = label.Meaning
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", d.Name, d.Type, codes(d.LabelNames()), cell(d.Help))
	}
	slices.Sort(labels)
	out.WriteString("\n| Label | Values |\n|---|---|\n")
	for _, label := range labels {
		fmt.Fprintf(&out, "| `%s` | %s |\n", label, cell(meanings[label]))
	}
	_, err := w.Write(out.Bytes())
	return err
}

func codes(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "`, `") + "`"
}
