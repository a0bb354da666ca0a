package controller

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// proofPeriod is how often Keystone is asked again about a credential that
// it has accepted: nothing else tells that somebody has revoked it there.
const proofPeriod = 10 * time.Minute

// errAsking is the answer of Keystone while there is none yet.
var errAsking = errors.New("Keystone is being asked") //nolint:staticcheck // It begins with a name.

// background does a task of a resource and has the resource reconciled then,
// unless one with the same key is under way.
type background interface {
	Do(name types.NamespacedName, key string, task func(context.Context))
}

// proofs remembers which credentials Keystone has accepted, so that a pass over a
// converged control plane asks for nothing. Keystone is asked in the background. A
// restart proves each credential once more.
type proofs struct {
	login      Login
	background background
	now        func(namespace string) time.Time
	// period is how long an accepted credential counts, pause how long Keystone is
	// left alone after any other answer.
	period, pause time.Duration

	mu       sync.Mutex
	verdicts map[types.NamespacedName]map[string]proof
}

type proof struct {
	verdict Verdict
	err     error
	// at is when Keystone said so last, since when it said so first.
	at, since time.Time
}

func newProofs(login Login, background background, now func(namespace string) time.Time, period, pause time.Duration) *proofs {
	if login == nil {
		login = logIn
	}
	return &proofs{
		login: login, background: background, now: now, period: period, pause: pause,
		verdicts: map[types.NamespacedName]map[string]proof{},
	}
}

// verdict is what Keystone has said, and has it asked again unless it has accepted
// the credential not long ago. What it has accepted once counts until it says
// otherwise: a Keystone that cannot be reached is somebody else's to report. The
// error is errAsking while there is no answer.
func (p *proofs) verdict(of types.NamespacedName, authURL, id, secret string) (Verdict, error) {
	return p.ask(of, digest(id, secret), p.period, p.loginWith(authURL, id, secret))
}

// dead reports whether Keystone refuses a credential that it may have accepted
// until just now. The error is errAsking while there is no answer.
func (p *proofs) dead(of types.NamespacedName, authURL, id, secret string) (bool, error) {
	verdict, err := p.ask(of, digest(id, secret), p.pause, p.loginWith(authURL, id, secret))
	return verdict == Rejected, err
}

// settled is verdict for a task that may use the administrator's password, known by a
// key. What fails is tried less and less often: Keystone may lock out an administrator
// whose password is tried too often with a wrong value.
func (p *proofs) settled(of types.NamespacedName, key string, task func(context.Context) (Verdict, error)) (Verdict, error) {
	known, _ := p.known(of, key)
	patience := min(known.at.Sub(known.since)/2, maxRetryPeriod)
	if known.err != nil && p.now(of.Namespace).Sub(known.at) < patience {
		return known.verdict, known.err
	}
	return p.ask(of, key, p.period, task)
}

func (p *proofs) loginWith(authURL, id, secret string) func(context.Context) (Verdict, error) {
	return func(ctx context.Context) (Verdict, error) { return p.login(ctx, authURL, id, secret) }
}

// digest stands for a credential in memory.
func digest(id, secret string) string { return controlplane.Hash(id + "\x00" + secret) }

// ask has Keystone asked when its last answer is too old, one that accepts the
// credential by the given period.
func (p *proofs) ask(
	of types.NamespacedName, credential string, period time.Duration, login func(context.Context) (Verdict, error),
) (Verdict, error) {
	known, asked := p.known(of, credential)
	if !asked {
		known.err = errAsking
	}
	if known.verdict != Accepted {
		period = p.pause
	}
	if !asked || p.now(of.Namespace).Sub(known.at) >= period {
		p.background.Do(of, credential, func(ctx context.Context) {
			verdict, err := login(ctx)
			p.record(of, credential, verdict, err)
		})
	}
	return known.verdict, known.err
}

func (p *proofs) record(of types.NamespacedName, credential string, verdict Verdict, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.verdicts[of]
	if verdict == Unproven && known[credential].verdict == Accepted {
		verdict, err = Accepted, nil
	}
	if known == nil {
		known = map[string]proof{}
		p.verdicts[of] = known
	}
	now := p.now(of.Namespace)
	for other, proof := range known {
		// Nobody asks about it any more.
		if now.Sub(proof.at) >= 2*p.period {
			delete(known, other)
		}
	}
	since := now
	if last, asked := known[credential]; asked && last.verdict == verdict {
		since = last.since
	}
	known[credential] = proof{verdict: verdict, err: err, at: now, since: since}
}

func (p *proofs) known(of types.NamespacedName, credential string) (known proof, asked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, asked = p.verdicts[of][credential]
	return known, asked
}

// due is when the next proof is, spread so that control planes do not ask all at
// once.
func (p *proofs) due() time.Duration { return wait.Jitter(p.period, 0.1) }

// rejected reports whether Keystone refuses the credential, and for how long it
// has been known to.
func (p *proofs) rejected(of types.NamespacedName, id, secret string) (known time.Duration, rejected bool) {
	last, _ := p.known(of, digest(id, secret))
	return p.now(of.Namespace).Sub(last.since), last.verdict == Rejected
}

func (p *proofs) forget(of types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.verdicts, of)
}
