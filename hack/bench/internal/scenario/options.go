package scenario

import (
	"io"
)

// Options say what is measured and how.
type Options struct {
	// Root is the top of the checkout, Dir a folder for logs and profiles, Operator
	// the program to measure.
	Root, Dir, Operator string
	// OperatorFlags and OperatorEnv are added to those of the chart.
	OperatorFlags, OperatorEnv []string
	// Workers is how many Keystones are reconciled concurrently.
	Workers int
	// PerNamespace is how many Keystones share a namespace.
	PerNamespace int
	// Pods is how many each Keystone has in total, Foreign how many foreign Secrets and as
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
