package reconcile

import (
	"errors"
	"time"
)

// Stop is an error that decides what its step reports. Inside a step, functions return
// values and errors, and only the function of the step makes an [Outcome] of them, with
// [Failed] or [WriteFailed]. The reason is that of the Stop. If that has none, or if there
// is no Stop, it is the one that the step passes. If there are several, the one closest
// to the cause decides.
type Stop struct {
	outcome Outcome
	cause   error
}

// WaitError is the error of what has to happen outside this pass first. See [Waiting].
func WaitError(reason, message string) *Stop { return &Stop{outcome: Waiting(reason, message)} }

// TerminalError is an error that lasts until the user changes something. See [Terminal].
func TerminalError(reason string, err error) *Stop {
	return &Stop{outcome: Terminal(reason, err), cause: err}
}

// WithReason gives an error a reason other than that of its step. Its class is that of
// [WriteFailed]. It returns nil for nil.
func WithReason(reason string, err error) error {
	if err == nil {
		return nil
	}
	return &Stop{outcome: WriteFailed(reason, err), cause: err}
}

// IsWait reports whether the error only means that something has to happen first.
func IsWait(err error) bool {
	stop, ok := errors.AsType[*Stop](err)
	return ok && stop.outcome.verdict == verdictWaiting
}

// Error implements error.
func (s *Stop) Error() string { return s.outcome.message }

// Unwrap returns the cause, nil for none.
func (s *Stop) Unwrap() error { return s.cause }

// After requests a requeue as [Outcome.After] does.
func (s *Stop) After(d time.Duration) *Stop { return &Stop{s.outcome.After(d), s.cause} }

// Within requests a requeue as [Outcome.Within] does.
func (s *Stop) Within(d time.Duration) *Stop { return &Stop{s.outcome.Within(d), s.cause} }

// OnTransition attaches an event as [Outcome.OnTransition] does.
func (s *Stop) OnTransition(eventType, reason, note string) *Stop {
	return &Stop{s.outcome.OnTransition(eventType, reason, note), s.cause}
}
