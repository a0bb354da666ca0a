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

// Failed returns how many checks have not succeeded.
func (r Report) Failed() (failed int) {
	for _, step := range r.Checks {
		if step.Result != check.OK {
			failed++
		}
	}
	return failed
}
