package identity

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Revocations run in the background. Failures are retried with increasing delays:
// Keystone may lock the administrator out after too many attempts with a wrong password.
type Revocations struct {
	background background

	mu sync.Mutex
	// last holds the last attempts by the ID of the credential.
	last map[types.NamespacedName]map[string]attempt
}

type attempt struct {
	succeeded bool
	err       error
	wait      time.Duration
	next      time.Time
}

// Failed reports whether the last attempt failed.
func (r *Revocations) Failed(of types.NamespacedName, id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[of][id].err != nil
}

// NewRevocations returns empty Revocations.
func NewRevocations(background background) *Revocations {
	return &Revocations{background: background, last: map[types.NamespacedName]map[string]attempt{}}
}

// Revoke returns nil once the revocation has succeeded, and then forgets it. It starts an
// attempt unless one failed recently. The error is that of the last attempt, and
// ErrAsking until the first one has finished.
func (r *Revocations) Revoke(
	of types.NamespacedName, id string, now func() time.Time, firstWait time.Duration, do func(context.Context) error,
) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.last[of][id]
	if last.succeeded {
		delete(r.last[of], id)
		return nil
	}
	if !now().Before(last.next) {
		r.background.Do(of, id, func(ctx context.Context) { r.record(of, id, now, firstWait, do(ctx)) })
	}
	if last.err == nil {
		return ErrAsking
	}
	return last.err
}

func (r *Revocations) record(of types.NamespacedName, id string, now func() time.Time, firstWait time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last[of] == nil {
		r.last[of] = map[string]attempt{}
	}
	wait := min(max(2*r.last[of][id].wait, firstWait), MaxRetryPeriod)
	r.last[of][id] = attempt{succeeded: err == nil, err: err, wait: wait, next: now().Add(wait)}
}

// Forget drops what is known about the revocations of a control plane.
func (r *Revocations) Forget(of types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, of)
}
