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
func (m Mode) kills() bool { return m == KillBefore || m == KillAfter }

// Faults disturbs one call of a client. Events and leases are not counted:
// no state of an object depends on them, and their number depends on timing.
// Create it with [NewFaults] or [NewCallFaults].
type Faults struct {
	at     int
	mode   Mode
	counts func(Request) bool
	fired  chan struct{}

	mu   sync.Mutex
	seen Requests
	hit  Request
}

// NewFaults returns a fault at the at-th write, counted from 1.
func NewFaults(at int, mode Mode) *Faults {
	return &Faults{at: at, mode: mode, counts: Request.Write, fired: make(chan struct{})}
}

// NewCallFaults returns a fault at the at-th call about any object, reads and
// watches among them, counted from 1. With 0 nothing is disturbed.
func NewCallFaults(at int, mode Mode) *Faults {
	return &Faults{at: at, mode: mode, counts: func(r Request) bool { return r.Resource != "" }, fired: make(chan struct{})}
}

// Seen returns the calls that counted so far.
func (f *Faults) Seen() Requests {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append(Requests(nil), f.seen...)
}

// Config returns a copy of cfg whose requests are disturbed.
func (f *Faults) Config(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(f.Wrap)
	return cfg
}

// Fired is closed once the chosen call was reached.
func (f *Faults) Fired() <-chan struct{} { return f.fired }

// Hit returns the request that was disturbed; the zero Request before.
func (f *Faults) Hit() Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hit
}

// Wrap is the wrapper that [rest.Config.Wrap] expects.
func (f *Faults) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		r := Parse(req)
		switch f.decide(r) {
		case pass:
			return next.RoundTrip(req)
		case refuse:
			return nil, fmt.Errorf("%w: refused %s", ErrInjected, r)
		default:
			defer close(f.fired)
			if code := f.mode.code(); code != 0 {
				return answer(req, r, code), nil
			}
			return nil, f.disturb(next, req, r)
		}
	})
}

type decision int

const (
	pass decision = iota
	refuse
	strike
)

func (f *Faults) decide(r Request) decision {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) >= f.at && f.mode.kills() {
		return refuse
	}
	if !f.counts(r) || r.Event() || r.Lease() {
		return pass
	}
	f.seen = append(f.seen, r)
	if len(f.seen) != f.at {
		return pass
	}
	f.hit = r
	return strike
}

func (f *Faults) disturb(next http.RoundTripper, req *http.Request, r Request) error {
	if f.mode == Timeout {
		return fmt.Errorf("%w: %s: %w", ErrInjected, r, os.ErrDeadlineExceeded)
	}
	if !f.mode.after() {
		return fmt.Errorf("%w: refused %s", ErrInjected, r)
	}
	resp, err := next.RoundTrip(req)
	if err != nil {
		return err
	}
	return errors.Join(fmt.Errorf("%w: lost the answer to %s", ErrInjected, r), resp.Body.Close())
}
