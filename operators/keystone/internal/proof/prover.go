package proof

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/probe"
)

// workers is how many logins are tried at once. One that is never answered
// holds a worker for [probe.Timeout] out of lastRetry.
const workers = 32

// Prover logs in at one Keystone for each resource, one try at a time. It is a
// manager runnable.
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

// NewProver returns a Prover that sends its requests with client; nil means that
// of [probe.NewClient].
func NewProver(client probe.Doer) *Prover {
	if client == nil {
		client = probe.NewClient()
	}
	return &Prover{Loop: probe.NewLoop(workers), client: client, subjects: map[types.NamespacedName]*subject{}}
}

// Check returns the last finding about the target's account. A target that
// differs from the last one asks for a login, if that is safe.
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
		// Now it is waited for.
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

// Suspend puts off all logins until the next Check, and returns the last
// finding, whatever it was about.
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

// Finding returns what the last login found, whatever it was about.
func (p *Prover) Finding(name types.NamespacedName) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.subjects[name]; known != nil {
		return known.history.result
	}
	return Result{}
}

// Forget ends the logins for the resource.
func (p *Prover) Forget(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.subjects, name)
}

// Start logs in until ctx ends.
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

// next returns the login that is due, and false when there is none.
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

// record remembers a login and reports whether it has found anything new.
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
	// Nobody has been told anything else.
	asBefore := before.Verdict == Unasked && known.target.Settled && after.Verdict == Accepted
	return after != before && !asBefore
}

// schedule wakes a worker when the next login is due. A worker that wakes early
// looks again.
func (p *Prover) schedule(name types.NamespacedName, known *subject) {
	if at, ever := known.history.due(known.target); ever {
		p.Schedule(name, time.Until(at))
	}
}
