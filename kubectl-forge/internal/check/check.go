// Package check holds the findings of commands that check before they
// act.
package check

import (
	"slices"
)

// Result is what a check has found.
type Result string

// The results.
const (
	OK      Result = "OK"
	Warning Result = "Warning"
	Failed  Result = "Failed"
	// Unknown is the result for something that the user may not read.
	Unknown Result = "Unknown"
)

// Finding is the result of one check.
type Finding struct {
	// Name says what was looked at.
	Name   string `json:"name"`
	Result Result `json:"result"`
	// Text says what was found, and what to do unless that is fine.
	Text string `json:"text"`
}

// AnyFailed reports whether one of the checks has failed.
func AnyFailed(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Result == Failed })
}
