package proof

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/probe"
)

// workers is the number of concurrent logins. One that is never answered occupies a
// worker for [probe.Timeout] out of lastRetry.
const workers = 32

// Prover verifies logins, one at a time per resource. It is a manager runnable.
type Prover struct {
	probe.Loop
	client probe.Doer

	mu       sync.Mutex
	subjects map[types.NamespacedName]*subject
}

type subject struct {
	target  Target
	history history
}

// NewProver returns a Prover that sends its requests with client; nil means
// [probe.NewClient].
func NewProver(client probe.Doer) *Prover {
	if client == nil {
		client = probe.NewClient()
	}
	return &Prover{Loop: probe.NewLoop(workers), client: client, subjects: map[types.NamespacedName]*subject{}}
}

// Check returns the last finding about the target's account. If the target has changed, a
// login is scheduled as soon as it is safe.
func (p *Prover) Check(name types.NamespacedName, target Target) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.subjects[name]
	switch {
	case known == nil:
		known = &subject{}
		known.history.adopt(target, time.Now(), rand.Float64()) //nolint:gosec // Not a secret: it only spreads load.
		p.subjects[name] = known
	case known.history.credential == "" && known.target.Settled && !target.Settled:
		// The earlier finding no longer counts, so a login is needed now.
		known.history.first = time.Time{}
	case known.target.same(target):
		return known.history.about(target)
	case known.target.Inputs != target.Inputs || known.target.credential() != target.credential():
		known.history.first = time.Time{}
	}
	known.target = target
	p.schedule(name, known)
	return known.history.about(target)
}

// Suspend stops all logins until the next Check, and returns the last finding, whatever
// its target was.
func (p *Prover) Suspend(name types.NamespacedName) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.subjects[name]
	if known == nil {
		return Result{}
	}
	known.target.Wait, known.target.Password = true, nil
	return known.history.result
}

// Finding returns the result of the last login, whatever its target was.
func (p *Prover) Finding(name types.NamespacedName) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.subjects[name]; known != nil {
		return known.history.result
	}
	return Result{}
}

// Forget stops the logins for the resource.
func (p *Prover) Forget(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.subjects, name)
}

// Start runs logins until ctx ends.
func (p *Prover) Start(ctx context.Context) error {
	p.Run(ctx, p.prove)
	return nil
}

func (p *Prover) prove(ctx context.Context, name types.NamespacedName) {
	target, due := p.next(name)
	if !due {
		return
	}
	result := target.logIn(ctx, p.client)
	if ctx.Err() == nil && p.record(name, target, result) {
		p.Tell(ctx, name)
	}
}

// next returns the login that is due, and false if there is none.
func (p *Prover) next(name types.NamespacedName) (Target, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.subjects[name]
	if known == nil {
		return Target{}, false
	}
	at, ever := known.history.due(known.target)
	if ever && at.After(time.Now()) {
		p.schedule(name, known)
		return Target{}, false
	}
	return known.target, ever
}

// record records a login and reports whether the finding has changed.
func (p *Prover) record(name types.NamespacedName, tried Target, result Result) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.subjects[name]
	if known == nil {
		return false
	}
	before := known.history.about(known.target)
	known.history.record(tried, result, time.Now(), rand.Float64()) //nolint:gosec // Not a secret: it only spreads load.
	p.schedule(name, known)
	after := known.history.about(known.target)
	// The status already reports this finding.
	asBefore := before.Verdict == Unasked && known.target.Settled && after.Verdict == Accepted
	return after != before && !asBefore
}

// schedule wakes a worker when the next login is due. A worker that wakes up early
// reschedules.
func (p *Prover) schedule(name types.NamespacedName, known *subject) {
	if at, ever := known.history.due(known.target); ever {
		p.Schedule(name, time.Until(at))
	}
}
