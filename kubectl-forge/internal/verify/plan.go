package verify

import (
	"context"
	"net/http"
	"time"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// Network reaches APIs inside and outside the cluster.
type Network interface {
	// Client reaches every API, and ClientOf those inside the cluster only through the pod.
	Client() *http.Client
	ClientOf(pod string) *http.Client
	// Pods returns the ready pods behind a URL, none if it leads out of the cluster.
	Pods(ctx context.Context, address string) ([]string, error)
}

// Check is a check that another package makes.
type Check struct {
	Name string
	Run  func(ctx context.Context) (text string, err error)
}

// UndecidedError says why a check has neither passed nor failed.
type UndecidedError struct{ Err error }

// Error says why.
func (e UndecidedError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e UndecidedError) Unwrap() error { return e.Err }

// Plan says what is tested.
type Plan struct {
	Target inventory.Ref
	// URL is that of the Identity API, including its version.
	URL string
	// Administrator is whose token the checks use.
	Administrator Login
	// Credential is the application credential of a ControlPlane, nil if there is none to test.
	Credential *Login
	// Types are those of the services that the catalog has to have.
	Types []string
	// Interfaces are those whose endpoints are tested. Without any, all are.
	Interfaces []string
	// Project is the name of the project that is created and deleted.
	Project string
	// More are checks that run at the end, if all others have passed.
	More    []Check
	Network Network
	// Show is called after each check.
	Show  func(Step)
	Clock func() time.Time
}
