package reconcile

import (
	"cmp"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// verdict is what a step concluded; the zero value is deliberately invalid so
// that a forgotten return is noticed.
type verdict int

const (
	verdictNone verdict = iota
	verdictDone
	verdictWaiting
	verdictDegraded
	verdictFailed
	verdictTerminal
)

// Outcome is what one step concluded in one pass. It is built with Done,
// Waiting, Failed or Terminal; the zero value is reported as a programming
// error.
type Outcome struct {
	verdict verdict
	reason  string
	message string
	err     error
	after   time.Duration
	proceed bool
	events  []Event
	// transition is emitted if the condition changes to this outcome.
	transition []Event
	// news is emitted if the condition's message changes to this outcome's.
	news []Event
	// recorded is emitted once the status write of this pass has succeeded.
	recorded []Event
}

// Event is something worth telling the user that happened in this pass and
// that no condition transition expresses, such as the creation of keys.
type Event struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type string
	// Reason is the CamelCase reason users filter by.
	Reason string
	// Note is the human-readable text.
	Note string
}

// Done reports that the step has nothing left to do: its condition is True.
func Done(reason, message string) Outcome {
	return Outcome{verdict: verdictDone, reason: reason, message: message, proceed: true}
}

// Waiting reports that something outside this pass has to happen first. Its
// condition is False, the steps that depend on it are blocked, and a watch is
// expected to trigger the next pass; the engine only adds a slow safety-net
// requeue, which After replaces.
func Waiting(reason, message string) Outcome {
	return Outcome{verdict: verdictWaiting, reason: reason, message: message}
}

// Degraded reports a False condition that blocks no other step and needs no
// requeue.
func Degraded(reason, message string) Outcome {
	return Outcome{verdict: verdictDegraded, reason: reason, message: message, proceed: true}
}

// Failed reports an error that may be transient. The pass is retried with
// backoff. An error with a [Stop] is reported as that says.
func Failed(reason string, err error) Outcome {
	if stop, ok := errors.AsType[*Stop](err); ok {
		outcome := stop.outcome
		outcome.reason, outcome.message = cmp.Or(outcome.reason, reason), err.Error()
		return outcome
	}
	return Outcome{verdict: verdictFailed, reason: reason, message: errorText(err), err: err}
}

// Terminal reports an error that lasts until the user changes something. It is not
// retried; the change itself is watched. The resource counts as stalled, even
// with After: rechecking something now and then, such as a Deployment
// that exceeded its progress deadline, is no reason to expect progress.
func Terminal(reason string, err error) Outcome {
	return Outcome{verdict: verdictTerminal, reason: reason, message: errorText(err), err: err}
}

// After requeues the resource in d at the latest, whether or not a watch fires.
func (o Outcome) After(d time.Duration) Outcome {
	o.after = d
	return o
}

// Within is like After, unless an earlier requeue is already requested. Zero does nothing.
func (o Outcome) Within(d time.Duration) Outcome {
	o.after = Sooner(o.after, d)
	return o
}

// Proceed lets the steps that depend on this one run although its condition is
// False. A rolling upgrade uses it to reach the Deployment.
func (o Outcome) Proceed() Outcome {
	o.proceed = true
	return o
}

// WithEvent attaches an event that is emitted once, at the end of this pass.
func (o Outcome) WithEvent(eventType, reason, note string) Outcome {
	o.events = append(o.events, Event{Type: eventType, Reason: reason, Note: note})
	return o
}

// OnTransition attaches an event that is emitted only when the condition
// changes to this outcome.
func (o Outcome) OnTransition(eventType, reason, note string) Outcome {
	o.transition = append(o.transition, Event{Type: eventType, Reason: reason, Note: note})
	return o
}

// OnNews attaches an event that is emitted only when the condition's status,
// reason or message changes to this outcome's: for something that happens while
// the condition stays True. The message must be the same in every pass.
func (o Outcome) OnNews(eventType, reason, note string) Outcome {
	o.news = append(o.news, Event{Type: eventType, Reason: reason, Note: note})
	return o
}

// OnRecord attaches an event that is emitted once the status of this pass has
// been written. It is for state that exists only in the status, such as the phase of
// an upgrade: a pass whose write fails is repeated and emits nothing.
func (o Outcome) OnRecord(eventType, reason, note string) Outcome {
	o.recorded = append(o.recorded, Event{Type: eventType, Reason: reason, Note: note})
	return o
}

// WithNormalEvent attaches a Normal event.
func (o Outcome) WithNormalEvent(reason, note string) Outcome {
	return o.WithEvent(corev1.EventTypeNormal, reason, note)
}

// IsDone reports whether the step's condition is True.
func (o Outcome) IsDone() bool { return o.verdict == verdictDone }

// Reason returns the condition reason of the outcome.
func (o Outcome) Reason() string { return o.reason }

// Message returns the condition message of the outcome.
func (o Outcome) Message() string { return o.message }

// Err returns the error of a failed outcome, nil otherwise.
func (o Outcome) Err() error { return o.err }

// RequeueAfter returns the delay requested with After, zero otherwise.
func (o Outcome) RequeueAfter() time.Duration { return o.after }

// Events returns the events attached with WithEvent.
func (o Outcome) Events() []Event { return o.events }

func (o Outcome) failed() bool {
	return o.verdict == verdictFailed || o.verdict == verdictTerminal
}

var errNoOutcome = errors.New("the step returned no outcome; this is a bug in the operator, please report it")

// normalised turns a missing outcome into a visible failure.
func (o Outcome) normalised() Outcome {
	if o.verdict == verdictNone {
		return Terminal("InternalError", errNoOutcome)
	}
	return o
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Sooner returns the earlier of two requeue delays, of which zero requests none.
func Sooner(current, candidate time.Duration) time.Duration {
	if candidate == 0 || (current != 0 && current < candidate) {
		return current
	}
	return candidate
}
