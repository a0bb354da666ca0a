package controller

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

// proofPeriod is how often Keystone is asked again about a credential that
// it has accepted: nothing else tells that somebody has revoked it there.
const proofPeriod = 10 * time.Minute

// proofs remembers which credential Keystone has accepted, so that a pass over a
// converged control plane asks for nothing. A restart proves each once more.
type proofs struct {
	login  Login
	now    func(namespace string) time.Time
	period time.Duration

	mu       sync.Mutex
	verdicts map[types.NamespacedName]proof
}

type proof struct {
	credential string
	verdict    Verdict
	at         time.Time
}

func newProofs(login Login, now func(namespace string) time.Time, period time.Duration) *proofs {
	if login == nil {
		login = logIn
	}
	return &proofs{login: login, now: now, period: period, verdicts: map[types.NamespacedName]proof{}}
}

// verdict asks Keystone unless it has accepted the credential not long ago. What
// it has accepted once counts until it says otherwise: a Keystone that cannot be
// reached is somebody else's to report.
func (p *proofs) verdict(ctx context.Context, of types.NamespacedName, authURL, id, secret string) (Verdict, error) {
	credential := fullHash(id + "\x00" + secret)
	known := p.known(of, credential)
	if known.verdict == Accepted && p.now(of.Namespace).Sub(known.at) < p.period {
		return Accepted, nil
	}
	verdict, err := p.login(ctx, authURL, id, secret)
	if verdict == Unproven && known.verdict == Accepted {
		verdict, err = Accepted, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verdicts[of] = proof{credential: credential, verdict: verdict, at: p.now(of.Namespace)}
	return verdict, err
}

func (p *proofs) known(of types.NamespacedName, credential string) proof {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.verdicts[of]; known.credential == credential {
		return known
	}
	return proof{}
}

// due is when the next proof is, spread so that control planes do not ask all at
// once.
func (p *proofs) due() time.Duration { return wait.Jitter(p.period, 0.1) }

// rejected tells whether Keystone has refused the credential when it was last
// asked.
func (p *proofs) rejected(of types.NamespacedName, id, secret string) bool {
	return p.known(of, fullHash(id+"\x00"+secret)).verdict == Rejected
}

func (p *proofs) forget(of types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.verdicts, of)
}
