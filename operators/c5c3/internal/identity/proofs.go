package identity

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// ProofPeriod is how often an accepted credential is verified again: nothing else reveals
// that it was revoked in Keystone.
const ProofPeriod = 10 * time.Minute

// LoginPeriod is the delay before a login without an answer is retried.
const LoginPeriod = 10 * time.Second

// MaxRetryPeriod is the longest pause between retries of something that keeps failing.
const MaxRetryPeriod = 10 * time.Minute

// workers is the number of control planes whose Keystone is asked concurrently.
const workers = 64

// ErrAsking is the error while Keystone has not answered yet.
var ErrAsking = errors.New("Keystone is being asked") //nolint:staticcheck // It begins with a name.

// Proofs has Keystone asked in the background which credentials it accepts, and to do tasks, so that a pass over a
// converged control plane asks for nothing. A restart proves each credential once more. It is a manager
// runnable that triggers a pass after each answer.
type Proofs struct {
	*ask.Ledger
	login Login
	// period is how long an accepted credential counts, pause how long Keystone is
	// left alone after any other answer.
	period, pause time.Duration

	mu sync.Mutex
	// ids are what Keystone has named in an answer, by subject.
	ids map[types.NamespacedName]map[string]string
}

// Task is something that Keystone is to do in the background, possibly with the
// administrator's password.
type Task struct {
	// Subject is what it is about, such as "region", and Key differs from one thing to
	// be done about that to the next.
	Subject, Key string
	// Password is the administrator's. A task that has failed is tried at once with
	// another one.
	Password string
	// FirstWait is the pause after the first failure. It doubles with each further one,
	// up to [MaxRetryPeriod].
	FirstWait time.Duration
	// WasDone reports that the status says so. It counts until Keystone has answered about the
	// subject: a restart of the operator is no news.
	WasDone bool
	Do      func(context.Context) (ask.Verdict, error)
}

// NewProofs returns empty Proofs. login verifies credentials. period is how long an accepted
// credential is not verified again; pause is the delay after any other answer.
func NewProofs(login Login, now func(namespace string) time.Time, period, pause time.Duration) *Proofs {
	return &Proofs{
		Ledger: ask.New(workers, now), login: login, period: period, pause: pause, ids: map[types.NamespacedName]map[string]string{},
	}
}

// SetID keeps an id that a task has found out about a subject; "" forgets it.
func (p *Proofs) SetID(of types.NamespacedName, subject, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ids[of] == nil {
		p.ids[of] = map[string]string{}
	}
	p.ids[of][subject] = id
}

// ID returns what was kept with SetID, "" for nothing.
func (p *Proofs) ID(of types.NamespacedName, subject string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ids[of][subject]
}

// Verdict returns Keystone's last answer, and has the credential verified again unless it
// was accepted recently. An accepted credential counts until Keystone rejects it; that
// Keystone is unreachable is reported elsewhere. wasAccepted reports that the status says so,
// which counts while there is no answer. Otherwise the error is ErrAsking then.
func (p *Proofs) Verdict(of types.NamespacedName, authURL, id, secret string, wasAccepted bool) (ask.Verdict, error) {
	return p.ask(of, p.policy(p.pause, p.pause, p.period), p.loginWith(authURL, id, secret, wasAccepted))
}

// Dead reports whether Keystone rejects a credential that it may have accepted until just
// now. The error is ErrAsking while there is no answer.
func (p *Proofs) Dead(of types.NamespacedName, authURL, id, secret string) (bool, error) {
	verdict, err := p.ask(of, p.policy(p.pause, p.pause, p.pause), p.loginWith(authURL, id, secret, false))
	return verdict == ask.Rejected, err
}

// Settled is Verdict for a task. That Keystone refuses the administrator's password is
// said also of a task that was done before: it is not tried for anything else, either.
func (p *Proofs) Settled(of types.NamespacedName, task Task) (ask.Verdict, error) {
	return p.ask(of, p.policy(task.FirstWait, MaxRetryPeriod, p.period), task)
}

// Revoke returns nil once a revocation of what has an id has succeeded, and then forgets it. It
// starts an attempt unless one failed recently: Keystone may lock the administrator out after too
// many attempts with a wrong password. The error is that of the last attempt, and ErrAsking until
// the first one has finished.
func (p *Proofs) Revoke(of types.NamespacedName, id string, firstWait time.Duration, do func(context.Context) error) error {
	policy := p.policy(firstWait, MaxRetryPeriod, p.period)
	policy.Expires = 0
	verdict, err := p.ask(of, policy, Task{Subject: revocationOf(id), Key: id, Do: func(ctx context.Context) (ask.Verdict, error) {
		if err := do(ctx); err != nil {
			return ask.Unproven, err
		}
		return ask.Accepted, nil
	}})
	if verdict == ask.Accepted {
		p.Drop(of, revocationOf(id))
	}
	return err
}

// RevocationFailed reports whether the last attempt of a revocation failed.
func (p *Proofs) RevocationFailed(of types.NamespacedName, id string) bool {
	return p.Last(of, revocationOf(id)).Err != nil
}

func revocationOf(id string) string { return "revocation of " + id }

// Pause is how long Keystone is left alone after a login that it did not accept.
func (p *Proofs) Pause() time.Duration { return p.pause }

// Due returns the delay until the next verification, with jitter so that control planes
// do not verify all at once.
func (p *Proofs) Due() time.Duration { return wait.Jitter(p.period, 0.1) }

// Digest identifies a credential in memory.
func Digest(id, secret string) string { return controlplane.Hash(id + "\x00" + secret) }

func (p *Proofs) loginWith(authURL, id, secret string, wasAccepted bool) Task {
	key := Digest(id, secret)
	return Task{Subject: key, Key: key, WasDone: wasAccepted, Do: func(ctx context.Context) (ask.Verdict, error) {
		return p.login(ctx, authURL, id, secret)
	}}
}

// policy leaves Keystone alone for a period after it has accepted, and after any other answer
// for the first pause, which doubles up to the last one.
func (p *Proofs) policy(first, last, period time.Duration) ask.Policy {
	return ask.Policy{
		Again: func(verdict ask.Verdict, failures int) time.Duration {
			if verdict == ask.Accepted {
				return period
			}
			return ask.Doubled(first, last, failures)
		},
		Doubts: func(answer ask.Answer) bool {
			return answer.Verdict == ask.Unproven && !errors.Is(answer.Err, ErrPassword)
		},
		Afresh: true, Expires: 2 * p.period,
	}
}

func (p *Proofs) ask(of types.NamespacedName, policy ask.Policy, task Task) (ask.Verdict, error) {
	question := ask.Question{
		Subject: task.Subject, ID: task.Key, Inputs: controlplane.Hash(task.Password), Policy: policy,
		Before: ask.Answer{Err: ErrAsking},
		Ask: func(ctx context.Context) ask.Answer {
			verdict, err := task.Do(ctx)
			return ask.Answer{Verdict: verdict, Err: err}
		},
	}
	if task.WasDone {
		question.Before = ask.Answer{Verdict: ask.Accepted}
	}
	answer := p.Check(of, question)
	if answer.Verdict == ask.Pending {
		return ask.Unproven, ErrAsking
	}
	return answer.Verdict, answer.Err
}

// Announce records that the user reads in the status that Keystone rejects a credential.
func (p *Proofs) Announce(of types.NamespacedName, id, secret string) {
	p.Ledger.Announce(of, Digest(id, secret), ask.Rejected)
}

// Rejected reports whether Keystone rejects a credential and this was announced, and how
// long ago.
func (p *Proofs) Rejected(of types.NamespacedName, id, secret string) (announced time.Duration, rejected bool) {
	return p.Announced(of, Digest(id, secret))
}

// Forget drops what is known about the credentials of a control plane.
func (p *Proofs) Forget(of types.NamespacedName) {
	p.Ledger.Forget(of)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ids, of)
}
