package transport

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"

	"k8s.io/client-go/rest"
)

// ErrInjected is what a client sees in place of the answer to a request that
// Faults disturbed.
var ErrInjected = errors.New("injected fault")

// Mode says what happens at the chosen call.
type Mode int

const (
	// FailBefore refuses the write: nothing is stored, the client goes on.
	FailBefore Mode = iota
	// FailAfter stores the write but loses the answer; the client goes on.
	FailAfter
	// KillBefore refuses the write and everything after it, as if the process
	// had died just before.
	KillBefore
	// KillAfter stores the write, loses the answer and refuses everything
	// after it, as if the process had died just after.
	KillAfter
	// Conflict answers 409 in place of the API server.
	Conflict
	// TooManyRequests answers 429 and asks to come back after a second.
	TooManyRequests
	// InternalError answers 500.
	InternalError
	// Timeout lets the call reach nobody and end as one that took too long.
	Timeout
)

// String returns the mode in words.
func (m Mode) String() string {
	names := map[Mode]string{
		FailBefore: "fail before", FailAfter: "fail after",
		KillBefore: "kill before", KillAfter: "kill after",
		Conflict: "409", TooManyRequests: "429", InternalError: "500", Timeout: "timeout",
	}
	return names[m]
}

func (m Mode) after() bool { return m == FailAfter || m == KillAfter }

// Kills tells whether no request passes after the one that was struck.
func (m Mode) Kills() bool { return m == KillBefore || m == KillAfter }

// Faults disturbs calls of a client. Events and leases are not counted: no state
// of an object depends on them, and their number depends on timing. Create it
// with [NewFaults] or [NewCallFaults].
type Faults struct {
	first  int
	chosen map[occurrence]bool
	modes  []Mode
	counts func(Request) bool
	fired  chan struct{}

	mu    sync.Mutex
	seen  []*Request
	times map[Request]int
	hits  Requests
	ended bool
}

// occurrence is the n-th call of a kind, counted from 1. The order of calls of
// different kinds depends on timing.
type occurrence struct {
	kind Request
	n    int
}

// NewFaults returns a fault at the at-th write, counted from 1. With 0 nothing
// is disturbed.
func NewFaults(at int, mode Mode) *Faults {
	return &Faults{first: at, modes: []Mode{mode}, counts: Request.Write, fired: make(chan struct{}), times: map[Request]int{}}
}

// NewCallFaults returns a fault at the at-th call about any object, reads and
// watches among them, counted from 1. With 0 nothing is disturbed.
func NewCallFaults(at int, mode Mode) *Faults {
	f := NewFaults(at, mode)
	f.counts = func(r Request) bool { return r.Resource != "" }
	return f
}

// Recurring disturbs every so many of the calls, which an undisturbed client has
// made, from the first on that was asked for, with the modes taking turns. The
// faults end with [Faults.End]. It is set before the first call, and returns f.
func (f *Faults) Recurring(calls Requests, every int, modes ...Mode) *Faults {
	f.chosen, f.modes = map[occurrence]bool{}, modes
	times := map[Request]int{}
	for i, r := range calls {
		times[r.Kind()]++
		if number := i + 1; number >= f.first && (number-f.first)%every == 0 {
			f.chosen[occurrence{r.Kind(), times[r.Kind()]}] = true
		}
	}
	return f
}

// End lets all calls pass from now on, unless a mode has killed the process.
func (f *Faults) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
}

// Seen returns the calls that counted so far, with the answers of those that
// were not disturbed.
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

// Fired is closed once the first fault has struck.
func (f *Faults) Fired() <-chan struct{} { return f.fired }

// Hits returns the requests that were disturbed.
func (f *Faults) Hits() Requests {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append(Requests(nil), f.hits...)
}

// Wrap is the wrapper that [rest.Config.Wrap] expects.
func (f *Faults) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
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

// answered notes the answer to a call that may have been seen.
func (f *Faults) answered(r *Request, code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Code = code
}

func (f *Faults) decide(r *Request) (decision, Mode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	mode := f.modes[len(f.hits)%len(f.modes)]
	if mode.Kills() && len(f.hits) > 0 {
		return refuse, mode
	}
	if !f.counts(*r) || r.Event() || r.Lease() {
		return pass, mode
	}
	f.seen = append(f.seen, r)
	f.times[r.Kind()]++
	chosen := len(f.seen) == f.first
	if f.chosen != nil {
		chosen = f.chosen[occurrence{r.Kind(), f.times[r.Kind()]}]
	}
	if f.ended || !chosen {
		return pass, mode
	}
	f.hits = append(f.hits, *r)
	return strike, mode
}

func (m Mode) disturb(next http.RoundTripper, req *http.Request, r Request) error {
	if m == Timeout {
		return fmt.Errorf("%w: %s: %w", ErrInjected, r, os.ErrDeadlineExceeded)
	}
	if !m.after() {
		return fmt.Errorf("%w: refused %s", ErrInjected, r)
	}
	resp, err := next.RoundTrip(req)
	if err != nil {
		return err
	}
	return errors.Join(fmt.Errorf("%w: lost the answer to %s", ErrInjected, r), resp.Body.Close())
}
