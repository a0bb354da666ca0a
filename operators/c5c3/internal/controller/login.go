package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

// loginTimeout bounds one login. Keystone answers within milliseconds; a pass
// must not wait for one that does not.
const loginTimeout = 5 * time.Second

// defaultProofPeriod is how often Keystone is asked again about a credential that
// it has accepted: nothing else tells that somebody has revoked it there.
const defaultProofPeriod = 10 * time.Minute

// Verdict is what Keystone says about an application credential.
type Verdict int

const (
	// Unproven means that Keystone gave no usable answer.
	Unproven Verdict = iota
	// Accepted means that Keystone gave a token for it.
	Accepted
	// Rejected means that Keystone knows no such credential, or another secret.
	Rejected
)

// Login asks Keystone at a URL for a token with an application credential. The
// error says why there is no verdict; it never holds the secret.
type Login func(ctx context.Context, authURL, id, secret string) (Verdict, error)

// logIn is Login over HTTP. See
// https://docs.openstack.org/api-ref/identity/v3/#authenticating-with-an-application-credential.
func logIn(ctx context.Context, authURL, id, secret string) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	body, err := json.Marshal(map[string]any{"auth": map[string]any{"identity": map[string]any{
		"methods":                []string{"application_credential"},
		"application_credential": map[string]string{"id": id, "secret": secret},
	}}})
	if err != nil {
		return Unproven, fmt.Errorf("encoding a login: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, authURL+"/auth/tokens", bytes.NewReader(body))
	if err != nil {
		return Unproven, fmt.Errorf("making a login: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Unproven, fmt.Errorf("reaching Keystone: %w", err)
	}
	defer response.Body.Close()
	// Read to the end, so that the connection can serve the next login.
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
	switch response.StatusCode {
	case http.StatusCreated:
		return Accepted, nil
	case http.StatusUnauthorized:
		return Rejected, nil
	}
	return Unproven, fmt.Errorf("keystone answered %s with status %d", request.URL.Redacted(), response.StatusCode)
}

// proofs remembers which credential Keystone has accepted, so that a pass over a
// converged control plane asks for nothing. A restart proves each once more.
type proofs struct {
	login  Login
	now    func() time.Time
	period time.Duration

	mu       sync.Mutex
	verdicts map[types.NamespacedName]proof
}

type proof struct {
	credential string
	verdict    Verdict
	at         time.Time
}

func newProofs(login Login, now func() time.Time, period time.Duration) *proofs {
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
	if known.verdict == Accepted && p.now().Sub(known.at) < p.period {
		return Accepted, nil
	}
	verdict, err := p.login(ctx, authURL, id, secret)
	if verdict == Unproven && known.verdict == Accepted {
		verdict, err = Accepted, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verdicts[of] = proof{credential: credential, verdict: verdict, at: p.now()}
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
