package transport

import (
	"net/http"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
)

// Refusals refuses chosen calls of a client for as long as a test wants, with
// the answer of an API server whose rights or policies do not allow them. The
// zero value refuses nothing.
type Refusals struct {
	mu      sync.Mutex
	refused []*refusal
}

type refusal struct{ matches func(Request) bool }

// Refuse answers every call that matches with 403 until the returned function is
// called.
func (r *Refusals) Refuse(matches func(Request) bool) (lift func()) {
	added := &refusal{matches}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = append(r.refused, added)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refused = slices.DeleteFunc(r.refused, func(other *refusal) bool { return other == added })
	}
}

// Config returns a copy of cfg whose requests may be refused.
func (r *Refusals) Config(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(r.Wrap)
	return cfg
}

// Wrap is the wrapper that [rest.Config.Wrap] expects.
func (r *Refusals) Wrap(next http.RoundTripper) http.RoundTripper {
	return Func(func(req *http.Request) (*http.Response, error) {
		if call := Parse(req); r.refuses(call) {
			return answer(req, call, http.StatusForbidden), nil
		}
		return next.RoundTrip(req)
	})
}

func (r *Refusals) refuses(call Request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.refused, func(one *refusal) bool { return one.matches(call) })
}
