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

// MaxRetryPeriod is the longest pause between retries of something that keeps failing.
const MaxRetryPeriod = 10 * time.Minute

// ErrAsking is the error while Keystone has not answered yet.
var ErrAsking = errors.New("Keystone is being asked") //nolint:staticcheck // It begins with a name.

// background runs a task of a resource and then triggers a pass over it, unless a task
// with the same key is already running.
type background interface {
	Do(name types.NamespacedName, key string, task func(context.Context))
}

// Proofs remembers which credentials Keystone has accepted and which tasks it has done, so that a pass over a
// converged control plane asks for nothing. Keystone is asked in the background. A
// restart proves each credential once more.
type Proofs struct {
	login      Login
	background background
	now        func(namespace string) time.Time
	// period is how long an accepted credential counts, pause how long Keystone is
	// left alone after any other answer.
	period, pause time.Duration

	mu       sync.Mutex
	verdicts map[types.NamespacedName]map[string]proof
	// ids are what Keystone has named in an answer, by subject.
	ids map[types.NamespacedName]map[string]string
}

type proof struct {
	verdict Verdict
	err     error
	// at is when Keystone last gave this answer, announced when the user first read of it,
	// zero before.
	at, announced time.Time
	// wait is how long Keystone is left alone after an answer other than that it accepts.
	wait time.Duration
	// subject and password are those of the task, the password as its hash.
	subject, password string
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
	Do        func(context.Context) (Verdict, error)
}

// NewProofs returns empty Proofs. login verifies credentials, and background runs the
// requests. period is how long an accepted credential is not verified again; pause is the
// delay after any other answer.
func NewProofs(login Login, background background, now func(namespace string) time.Time, period, pause time.Duration) *Proofs {
	return &Proofs{
		login: login, background: background, now: now, period: period, pause: pause,
		verdicts: map[types.NamespacedName]map[string]proof{}, ids: map[types.NamespacedName]map[string]string{},
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
// Keystone is unreachable is reported elsewhere. The error is ErrAsking while there is no
// answer.
func (p *Proofs) Verdict(of types.NamespacedName, authURL, id, secret string) (Verdict, error) {
	return p.ask(of, p.period, p.loginWith(authURL, id, secret))
}

// Dead reports whether Keystone rejects a credential that it may have accepted until just
// now. The error is ErrAsking while there is no answer.
func (p *Proofs) Dead(of types.NamespacedName, authURL, id, secret string) (bool, error) {
	verdict, err := p.ask(of, p.pause, p.loginWith(authURL, id, secret))
	return verdict == Rejected, err
}

// Settled is Verdict for a task. That Keystone refuses the administrator's password is
// said also of a task that was done before: it is not tried for anything else, either.
func (p *Proofs) Settled(of types.NamespacedName, task Task) (Verdict, error) {
	return p.ask(of, p.period, task)
}

// Remembers reports whether Keystone has answered a task about a subject since the
// operator was started.
func (p *Proofs) Remembers(of types.NamespacedName, subject string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, known := range p.verdicts[of] {
		if known.subject == subject {
			return true
		}
	}
	return false
}

// Pause is how long Keystone is left alone after a login that it did not accept.
func (p *Proofs) Pause() time.Duration { return p.pause }

func (p *Proofs) loginWith(authURL, id, secret string) Task {
	return Task{Key: Digest(id, secret), Do: func(ctx context.Context) (Verdict, error) { return p.login(ctx, authURL, id, secret) }}
}

// Digest identifies a credential in memory.
func Digest(id, secret string) string { return controlplane.Hash(id + "\x00" + secret) }

// ask has Keystone asked when its last answer is too old, one that accepts by the given
// period.
func (p *Proofs) ask(of types.NamespacedName, period time.Duration, task Task) (Verdict, error) {
	known, asked := p.known(of, task.Key)
	if !asked {
		known.err = ErrAsking
	}
	if known.verdict != Accepted {
		period = known.wait
		if known.password != controlplane.Hash(task.Password) {
			period = 0
		}
	}
	if !asked || p.now(of.Namespace).Sub(known.at) >= period {
		p.background.Do(of, task.Key, func(ctx context.Context) {
			verdict, err := task.Do(ctx)
			p.record(of, task, verdict, err)
		})
	}
	return known.verdict, known.err
}

func (p *Proofs) record(of types.NamespacedName, task Task, verdict Verdict, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.verdicts[of]
	if known == nil {
		known = map[string]proof{}
		p.verdicts[of] = known
	}
	last, asked := known[task.Key]
	if verdict == Unproven && last.verdict == Accepted && !errors.Is(err, ErrPassword) {
		verdict, err = Accepted, nil
	}
	now := p.now(of.Namespace)
	for other, proof := range known {
		// Entries that are no longer used are dropped.
		if now.Sub(proof.at) >= 2*p.period {
			delete(known, other)
		}
	}
	next := proof{verdict: verdict, err: err, at: now, subject: task.Subject, password: controlplane.Hash(task.Password)}
	if asked && last.verdict == verdict {
		next.announced = last.announced
	}
	next.wait = p.waitAfter(last, next, task)
	known[task.Key] = next
}

// waitAfter is how long Keystone is left alone. Failures with another password do not
// count.
func (p *Proofs) waitAfter(last, next proof, task Task) time.Duration {
	switch {
	case next.verdict == Accepted:
		return 0
	case task.FirstWait == 0:
		return p.pause
	case last.password != next.password:
		return task.FirstWait
	}
	return min(max(2*last.wait, task.FirstWait), MaxRetryPeriod)
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

// Announce records that the user reads in the status that Keystone rejects a credential.
func (p *Proofs) Announce(of types.NamespacedName, id, secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := Digest(id, secret)
	if known := p.verdicts[of][key]; known.verdict == Rejected && known.announced.IsZero() {
		known.announced = p.now(of.Namespace)
		p.verdicts[of][key] = known
	}
}

// Rejected reports whether Keystone rejects a credential and this was announced, and how
// long ago.
func (p *Proofs) Rejected(of types.NamespacedName, id, secret string) (announced time.Duration, rejected bool) {
	last, _ := p.known(of, Digest(id, secret))
	if last.announced.IsZero() {
		return 0, false
	}
	return p.now(of.Namespace).Sub(last.announced), true
}

// AskAgain drops the answers about a subject, so that Keystone is asked again.
func (p *Proofs) AskAgain(of types.NamespacedName, subject string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, known := range p.verdicts[of] {
		if known.subject == subject {
			delete(p.verdicts[of], key)
		}
	}
}

// Forget drops what is known about the credentials of a control plane.
func (p *Proofs) Forget(of types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.verdicts, of)
	delete(p.ids, of)
}
