package show

import (
	"io"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
)

var resultColours = map[check.Result]Colour{
	check.OK: Green, check.Warning: Yellow, check.Failed: Red, check.Unknown: Grey,
}

// Findings writes the findings as a table.
func (s Style) Findings(out io.Writer, findings []check.Finding) {
	rows := make([][]cell, 0, len(findings))
	for _, finding := range findings {
		rows = append(rows, []cell{
			{text: string(finding.Result), colour: resultColours[finding.Result]}, {text: finding.Name}, {text: finding.Text},
		})
	}
	s.table(out, "", rows)
}
