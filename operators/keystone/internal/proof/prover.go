package proof

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/probe"
)

// workers is the number of concurrent logins. One that is never answered occupies a
// worker for [probe.Timeout] out of lastRetry.
const workers = 32

// Prover verifies logins, one at a time per resource. It is a manager runnable.
type Prover struct {
	*ask.Ledger
	client probe.Doer
}

// NewProver returns a Prover that sends its requests with client; nil means
// [probe.NewClient].
func NewProver(client probe.Doer) *Prover {
	if client == nil {
		client = probe.NewClient()
	}
	return &Prover{Ledger: ask.New(workers, nil), client: client}
}

// Check returns the last finding about the target's account. If the target has changed, a
// login is scheduled as soon as it is safe.
func (p *Prover) Check(name types.NamespacedName, target Target) ask.Answer {
	return target.explained(p.Ledger.Check(name, target.question(p.client)))
}

// Suspend stops all logins until the next Check, and returns the last finding, whatever
// its target was.
func (p *Prover) Suspend(name types.NamespacedName) ask.Answer { return p.Ledger.Suspend(name, "") }

// Finding returns the result of the last login, whatever its target was.
func (p *Prover) Finding(name types.NamespacedName) ask.Answer { return p.Last(name, "") }
