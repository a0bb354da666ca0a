// Package verify tests a running control plane as one of its users would: it logs in, reads the
// catalog, reaches every endpoint in it, and creates and deletes a project.
package verify

import (
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// The names of the checks. Those of endpoints follow [checkEndpoint].
const (
	checkLogin         = "Login"
	checkCredential    = "Application credential"
	checkToken         = "Token"
	checkCatalog       = "Catalog"
	checkEndpoint      = "Endpoint"
	checkCreateProject = "Create project"
	checkDeleteProject = "Delete project"
	checkCleanUp       = "Clean up"
)

// Step is the result of one check.
type Step struct {
	check.Finding

	// Seconds is how long the check took.
	Seconds float64 `json:"seconds"`
}

// Report is the result of all checks.
type Report struct {
	Target inventory.Ref `json:"target"`
	// Passed is set if every check has succeeded.
	Passed bool `json:"passed"`
	// Seconds is how long all checks took.
	Seconds float64 `json:"seconds"`
	Checks  []Step  `json:"checks"`
}

// firstFailed returns the name of the first check that has not succeeded, "" if all have.
func (r Report) firstFailed() string {
	for _, step := range r.Checks {
		if step.Result != check.OK {
			return step.Name
		}
	}
	return ""
}

// Failed returns how many checks have not succeeded.
func (r Report) Failed() int {
	failed := 0
	for _, step := range r.Checks {
		if step.Result != check.OK {
			failed++
		}
	}
	return failed
}
