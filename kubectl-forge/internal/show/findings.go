package show

import (
	"io"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
)

// Findings writes the findings as a table.
func (s Style) Findings(out io.Writer, findings []check.Finding) {
	rows := make([][]cell, 0, len(findings))
	for _, finding := range findings {
		result := string(finding.Result)
		rows = append(rows, []cell{{result, StateColour(result)}, {text: finding.Name}, {text: finding.Text}})
	}
	s.table(out, "", rows)
}
