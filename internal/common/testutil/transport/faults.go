package transport

import (
	"fmt"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"
)

// Call is one call among those of its kind. Calls are identified by their kind,
// since the order of calls of different kinds depends on timing.
type Call struct {
	// Kind is [Request.Kind], such as "create secrets".
	Kind string
	// N counts the calls of the kind from 1.
	N int
}

// String describes the call.
func (c Call) String() string { return fmt.Sprintf("%s #%d", c.Kind, c.N) }

// Calls numbers the requests within their kinds.
func (rs Requests) Calls() []Call {
	calls, times := make([]Call, len(rs)), map[string]int{}
	for i, r := range rs {
		kind := r.Kind().String()
		times[kind]++
		calls[i] = Call{Kind: kind, N: times[kind]}
	}
	return calls
}

// Faults disturbs calls of a client. Events and leases are not counted: no state
// of an object depends on them, and their number depends on timing. Create it
// with [NewFaults].
type Faults struct {
	chosen map[Call]bool
	modes  []Mode
	fired  chan struct{}

	mu    sync.Mutex
	seen  []*Request
	times map[string]int
	hits  Requests
	ended bool
}

// NewFaults returns faults at the chosen calls, alternating between the modes. Modes
// that kill the process apply only to the first of the calls that is made.
func NewFaults(calls []Call, modes ...Mode) *Faults {
	f := &Faults{chosen: map[Call]bool{}, modes: modes, fired: make(chan struct{}), times: map[string]int{}}
	for _, call := range calls {
		f.chosen[call] = true
	}
	return f
}

// End lets all calls pass from now on, unless a mode has killed the process.
func (f *Faults) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
}

// Seen returns the calls so far, with the answers of those that were not
// disturbed.
func (f *Faults) Seen() Requests {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := make(Requests, len(f.seen))
	for i, r := range f.seen {
		seen[i] = *r
	}
	return seen
}

// Config returns a copy of cfg whose requests are disturbed.
func (f *Faults) Config(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(f.Wrap)
	return cfg
}

// Fired is closed once the first fault was injected.
func (f *Faults) Fired() <-chan struct{} { return f.fired }

// Hits returns the requests that were disturbed.
func (f *Faults) Hits() Requests {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append(Requests(nil), f.hits...)
}

// Reached reports whether the client has made the call, disturbed or not.
func (f *Faults) Reached(call Call) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.times[call.Kind] >= call.N
}

// Wrap is the wrapper that [rest.Config.Wrap] expects.
func (f *Faults) Wrap(next http.RoundTripper) http.RoundTripper {
	return Func(func(req *http.Request) (*http.Response, error) {
		r := Parse(req)
		switch decision, mode := f.decide(&r); decision {
		case pass:
			resp, err := next.RoundTrip(req)
			if err == nil {
				f.answered(&r, resp.StatusCode)
			}
			return resp, err
		case refuse:
			return nil, fmt.Errorf("%w: refused %s", ErrInjected, r)
		default:
			defer f.fire()
			if code := mode.code(); code != 0 {
				return answer(req, r, code), nil
			}
			return nil, mode.disturb(next, req, r)
		}
	})
}

func (f *Faults) fire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.fired:
	default:
		close(f.fired)
	}
}

type decision int

const (
	pass decision = iota
	refuse
	strike
)

// answered records the response to a call that may have been seen.
func (f *Faults) answered(r *Request, code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Code = code
}

func (f *Faults) decide(r *Request) (decision, Mode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	mode := FailBefore
	if len(f.modes) > 0 {
		mode = f.modes[len(f.hits)%len(f.modes)]
	}
	if mode.Kills() && len(f.hits) > 0 {
		return refuse, mode
	}
	if r.Resource == "" || r.Event() || r.Lease() {
		return pass, mode
	}
	f.seen = append(f.seen, r)
	kind := r.Kind().String()
	f.times[kind]++
	if f.ended || !f.chosen[Call{Kind: kind, N: f.times[kind]}] {
		return pass, mode
	}
	f.hits = append(f.hits, *r)
	return strike, mode
}
