package transport

import (
	"maps"
	"net/http"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
)

// Reach records a client's requests outside one namespace, including watches, and
// its forbidden requests in any namespace.
type Reach struct {
	namespace string

	mu               sync.Mutex
	outside, refused map[string]bool
}

// NewReach returns a Reach for a client that should not leave a namespace.
func NewReach(namespace string) *Reach {
	return &Reach{namespace: namespace, outside: map[string]bool{}, refused: map[string]bool{}}
}

// Config returns a copy of cfg whose requests are recorded.
func (r *Reach) Config(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return Func(func(req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			request := Parse(req)
			if resp != nil {
				request.Code = resp.StatusCode
			}
			r.record(request)
			return resp, err
		})
	})
	return cfg
}

func (r *Reach) record(request Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if request.Resource != "" && request.Namespace != r.namespace {
		r.outside[request.String()] = true
	}
	if request.Code == http.StatusForbidden || request.Code == http.StatusUnauthorized {
		r.refused[request.String()] = true
	}
}

// Outside returns the requests outside the namespace.
func (r *Reach) Outside() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.outside))
}

// Refused returns the requests that the API server did not authenticate or
// authorize.
func (r *Reach) Refused() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.refused))
}
