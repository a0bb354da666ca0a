package doctor

import (
	"fmt"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
)

func finding(name Topic, result check.Result, format string, args ...any) check.Finding {
	return check.Finding{Name: string(name), Result: result, Text: fmt.Sprintf(format, args...)}
}

// hidden returns the finding about what could not be read.
func (f Facts) hidden(topic Topic) (check.Finding, bool) {
	err := f.Hidden[topic]
	if err == nil {
		return check.Finding{}, false
	}
	return finding(topic, check.Unknown, "%s", err), true
}
