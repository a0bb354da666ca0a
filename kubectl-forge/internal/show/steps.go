package show

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/c5c3/forge/kubectl-forge/internal/verify"
)

// The widths of the columns of steps. They are fixed, since a step is shown as soon as it has ended.
const (
	resultColumn = 7
	stepColumn   = 36
)

// Step writes one step of a verification.
func (s Style) Step(out io.Writer, step verify.Step) {
	pad := func(text string, width int) string {
		return strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0))
	}
	result := string(step.Result)
	fmt.Fprintf(out, "%s%s  %s%s  %6.2f s  %s\n", s.Paint(resultColours[step.Result], result), pad(result, resultColumn),
		step.Name, pad(step.Name, stepColumn), step.Seconds, step.Text)
}

// Verified writes what a verification has come to.
func (s Style) Verified(out io.Writer, r verify.Report) {
	target := fmt.Sprintf("%s in namespace %s", r.Target.Arg(), r.Target.Namespace)
	if r.Passed {
		fmt.Fprintf(out, "%s: %s in %.2f s\n", target, s.Paint(Green, fmt.Sprintf("all %d checks passed", len(r.Checks))), r.Seconds)
		return
	}
	failed := fmt.Sprintf("%d of %d checks did not pass", r.Failed(), len(r.Checks))
	fmt.Fprintf(out, "%s: %s\n", target, s.Paint(Red, failed))
}
