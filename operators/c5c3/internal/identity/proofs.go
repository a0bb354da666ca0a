package identity

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// ProofPeriod is how often Keystone is asked again about a credential that
// it has accepted: nothing else tells that somebody has revoked it there.
const ProofPeriod = 10 * time.Minute

// LoginPeriod is how often a login is tried again that got no answer.
const LoginPeriod = 10 * time.Second

// MaxRetryPeriod is how rarely something is tried again at the most that keeps failing.
const MaxRetryPeriod = 10 * time.Minute

// ErrAsking is the answer of Keystone while there is none yet.
var ErrAsking = errors.New("Keystone is being asked") //nolint:staticcheck // It begins with a name.

// background does a task of a resource and has the resource reconciled then,
// unless one with the same key is under way.
type background interface {
	Do(name types.NamespacedName, key string, task func(context.Context))
}

// Proofs remembers which credentials Keystone has accepted, so that a pass over a
// converged control plane asks for nothing. Keystone is asked in the background. A
// restart proves each credential once more.
type Proofs struct {
	login      Login
	background background
	now        func(namespace string) time.Time
	// period is how long an accepted credential counts, pause how long Keystone is
	// left alone after any other answer.
	period, Pause time.Duration

	mu       sync.Mutex
	verdicts map[types.NamespacedName]map[string]proof
}

type proof struct {
	verdict Verdict
	err     error
	// at is when Keystone said so last, since when it said so first.
	at, since time.Time
}

// NewProofs returns an empty memory. login is nil for HTTP, background is where Keystone is
// asked, and period and pause are how long an accepted credential counts, and how long
// Keystone is left alone after any other answer.
func NewProofs(login Login, background background, now func(namespace string) time.Time, period, pause time.Duration) *Proofs {
	if login == nil {
		login = logIn
	}
	return &Proofs{
		login: login, background: background, now: now, period: period, Pause: pause,
		verdicts: map[types.NamespacedName]map[string]proof{},
	}
}

// Verdict is what Keystone has said, and has it asked again unless it has accepted
// the credential not long ago. What it has accepted once counts until it says
// otherwise: a Keystone that cannot be reached is somebody else's to report. The
// error is ErrAsking while there is no answer.
func (p *Proofs) Verdict(of types.NamespacedName, authURL, id, secret string) (Verdict, error) {
	return p.ask(of, Digest(id, secret), p.period, p.loginWith(authURL, id, secret))
}

// Dead reports whether Keystone refuses a credential that it may have accepted
// until just now. The error is ErrAsking while there is no answer.
func (p *Proofs) Dead(of types.NamespacedName, authURL, id, secret string) (bool, error) {
	verdict, err := p.ask(of, Digest(id, secret), p.Pause, p.loginWith(authURL, id, secret))
	return verdict == Rejected, err
}

// Settled is verdict for a task that may use the administrator's password, known by a
// key. What fails is tried less and less often: Keystone may lock out an administrator
// whose password is tried too often with a wrong value.
func (p *Proofs) Settled(of types.NamespacedName, key string, task func(context.Context) (Verdict, error)) (Verdict, error) {
	known, _ := p.known(of, key)
	patience := min(known.at.Sub(known.since)/2, MaxRetryPeriod)
	if known.err != nil && p.now(of.Namespace).Sub(known.at) < patience {
		return known.verdict, known.err
	}
	return p.ask(of, key, p.period, task)
}

func (p *Proofs) loginWith(authURL, id, secret string) func(context.Context) (Verdict, error) {
	return func(ctx context.Context) (Verdict, error) { return p.login(ctx, authURL, id, secret) }
}

// Digest stands for a credential in memory.
func Digest(id, secret string) string { return controlplane.Hash(id + "\x00" + secret) }

// ask has Keystone asked when its last answer is too old, one that accepts the
// credential by the given period.
func (p *Proofs) ask(
	of types.NamespacedName, credential string, period time.Duration, login func(context.Context) (Verdict, error),
) (Verdict, error) {
	known, asked := p.known(of, credential)
	if !asked {
		known.err = ErrAsking
	}
	if known.verdict != Accepted {
		period = p.Pause
	}
	if !asked || p.now(of.Namespace).Sub(known.at) >= period {
		p.background.Do(of, credential, func(ctx context.Context) {
			verdict, err := login(ctx)
			p.record(of, credential, verdict, err)
		})
	}
	return known.verdict, known.err
}

func (p *Proofs) record(of types.NamespacedName, credential string, verdict Verdict, err error) {
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

func (p *Proofs) known(of types.NamespacedName, credential string) (known proof, asked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, asked = p.verdicts[of][credential]
	return known, asked
}

// Due is when the next proof is, spread so that control planes do not ask all at
// once.
func (p *Proofs) Due() time.Duration { return wait.Jitter(p.period, 0.1) }

// Rejected reports whether Keystone refuses the credential, and for how long it
// has been known to.
func (p *Proofs) Rejected(of types.NamespacedName, id, secret string) (known time.Duration, rejected bool) {
	last, _ := p.known(of, Digest(id, secret))
	return p.now(of.Namespace).Sub(last.since), last.verdict == Rejected
}

// Forget drops what is known about the credentials of a control plane.
func (p *Proofs) Forget(of types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.verdicts, of)
}
