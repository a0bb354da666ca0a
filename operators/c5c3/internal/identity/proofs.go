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

// ProofPeriod is how often an accepted credential is verified again: nothing else reveals
// that it was revoked in Keystone.
const ProofPeriod = 10 * time.Minute

// LoginPeriod is the delay before a login without an answer is retried.
const LoginPeriod = 10 * time.Second

// MaxRetryPeriod is the maximum delay between attempts that keep failing.
const MaxRetryPeriod = 10 * time.Minute

// ErrAsking is the error while Keystone has not answered yet.
var ErrAsking = errors.New("Keystone is being asked") //nolint:staticcheck // It begins with a name.

// background runs a task of a resource and then triggers a pass over it, unless a task
// with the same key is already running.
type background interface {
	Do(name types.NamespacedName, key string, task func(context.Context))
}

// Proofs remembers which credentials Keystone has accepted, so that a pass over a
// converged control plane sends no request. Keystone is asked in the background. After a
// restart each credential is verified once.
type Proofs struct {
	login      Login
	background background
	now        func(namespace string) time.Time
	// period is how long an accepted credential is not verified again; Pause is the delay
	// after any other answer.
	period, Pause time.Duration

	mu       sync.Mutex
	verdicts map[types.NamespacedName]map[string]proof
}

type proof struct {
	verdict Verdict
	err     error
	// at is when Keystone last gave this answer, since when it first did.
	at, since time.Time
}

// NewProofs returns empty Proofs. A nil login means HTTP, and background runs the
// requests. period is how long an accepted credential is not verified again; pause is the
// delay after any other answer.
func NewProofs(login Login, background background, now func(namespace string) time.Time, period, pause time.Duration) *Proofs {
	if login == nil {
		login = logIn
	}
	return &Proofs{
		login: login, background: background, now: now, period: period, Pause: pause,
		verdicts: map[types.NamespacedName]map[string]proof{},
	}
}

// Verdict returns Keystone's last answer, and has the credential verified again unless it
// was accepted recently. An accepted credential counts until Keystone rejects it; that
// Keystone is unreachable is reported elsewhere. The error is ErrAsking while there is no
// answer.
func (p *Proofs) Verdict(of types.NamespacedName, authURL, id, secret string) (Verdict, error) {
	return p.ask(of, Digest(id, secret), p.period, p.loginWith(authURL, id, secret))
}

// Dead reports whether Keystone rejects a credential that it may have accepted until just
// now. The error is ErrAsking while there is no answer.
func (p *Proofs) Dead(of types.NamespacedName, authURL, id, secret string) (bool, error) {
	verdict, err := p.ask(of, Digest(id, secret), p.Pause, p.loginWith(authURL, id, secret))
	return verdict == Rejected, err
}

// Settled is Verdict for a task, identified by a key, that may use the administrator's
// password. Failures are retried with increasing delays: Keystone may lock the
// administrator out after too many attempts with a wrong password.
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

// Digest identifies a credential in memory.
func Digest(id, secret string) string { return controlplane.Hash(id + "\x00" + secret) }

// ask asks Keystone again if its last answer is too old. For an accepted credential, that
// is after the given period.
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
		// Entries that are no longer used are dropped.
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

// Due returns the delay until the next verification, with jitter so that control planes
// do not verify all at once.
func (p *Proofs) Due() time.Duration { return wait.Jitter(p.period, 0.1) }

// Rejected reports whether Keystone rejects the credential, and for how long that has
// been known.
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
