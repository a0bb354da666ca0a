package show

import (
	"fmt"
	"io"

	"github.com/c5c3/forge/kubectl-forge/internal/verify"
)

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
