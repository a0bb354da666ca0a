package transport

import (
	"errors"
	"fmt"
	"net/http"
	"os"
)

// Mode says what happens at the chosen call.
type Mode int

const (
	// FailBefore refuses the write: nothing is stored, the client keeps running.
	FailBefore Mode = iota
	// FailAfter stores the write but loses the response; the client keeps running.
	FailAfter
	// KillBefore refuses the write and everything after it, as if the process
	// had died just before.
	KillBefore
	// KillAfter stores the write, loses the response and refuses everything
	// after it, as if the process had died just after.
	KillAfter
	// Conflict responds with 409 instead of the API server.
	Conflict
	// TooManyRequests responds with 429 and asks for a retry after a second.
	TooManyRequests
	// InternalError responds with 500.
	InternalError
	// Timeout drops the call and ends it like one that timed out.
	Timeout
)

// String describes the mode.
func (m Mode) String() string {
	names := map[Mode]string{
		FailBefore: "fail before", FailAfter: "fail after",
		KillBefore: "kill before", KillAfter: "kill after",
		Conflict: "409", TooManyRequests: "429", InternalError: "500", Timeout: "timeout",
	}
	return names[m]
}

func (m Mode) after() bool { return m == FailAfter || m == KillAfter }

// Kills reports whether no request passes after the disturbed one.
func (m Mode) Kills() bool { return m == KillBefore || m == KillAfter }

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

// code returns the status that the mode answers with, 0 when there is no answer.
func (m Mode) code() int {
	return map[Mode]int{
		Conflict: http.StatusConflict, TooManyRequests: http.StatusTooManyRequests, InternalError: http.StatusInternalServerError,
	}[m]
}
