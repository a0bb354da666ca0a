package scenario

import (
	"io"

	"github.com/c5c3/forge/hack/bench/internal/operators"
)

// Options say what is measured and how.
type Options struct {
	// Root is the top of the checkout, Dir a folder for logs and profiles, Program
	// the program to measure.
	Root, Dir, Program string
	// Operator is what the program is.
	Operator *operators.Operator
	// OperatorFlags and OperatorEnv are added to those of the chart.
	OperatorFlags, OperatorEnv []string
	// Workers is how many resources are reconciled concurrently.
	Workers int
	// PerNamespace is how many resources share a namespace, unless they have to be alone.
	PerNamespace int
	// Pods is how many each resource has in total, Foreign how many foreign Secrets and as
	// many foreign Pods there are.
	Pods, Foreign int
	// Memory limits the operator's memory in bytes; 0 is no limit.
	Memory int64
	// Scenarios are the names of those to run; empty means all.
	Scenarios []string
	// Profile stores heap profiles between the scenarios.
	Profile bool
	// Progress receives progress messages.
	Progress io.Writer
}
