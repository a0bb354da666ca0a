package credentialrotation

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// rotationFacts are all that a decision about a CredentialRotation depends on.
// Nothing is remembered between two decisions but what is in them.
type rotationFacts struct {
	rotation *c5c3v1alpha1.CredentialRotation
	now      time.Time
	// day is 24 hours except in tests.
	day time.Duration
	// mode is the rotation mode of the ControlPlane.
	mode c5c3v1alpha1.RotationMode
	// exists reports whether there is a credential to replace.
	exists bool
	// inUseSince is from when the credential has been in use.
	inUseSince time.Time
	// request and passwordHash are what the credential's annotations say, and
	// stamped whether it has the latter.
	request, passwordHash string
	stamped               bool
	// password is the hash of the administrator's password, "" when there is none.
	password string
}

// rotationDecision is what is to be done and to be said.
type rotationDecision struct {
	ready           bool
	reason, message string
	// request is what to write on the credential, "" to leave it alone.
	request string
	// overlap is how long the replaced credential is to work on.
	overlap time.Duration
	// reMinted tells that the reMint of this generation has been acted on.
	reMinted bool
	// next is when the next credential is made on a schedule.
	next *metav1.Time
	// after is when to look again, zero for not before something changes.
	after time.Duration
}

// decideRotation is the whole behaviour of a valid CredentialRotation. A request has
// an identity, which the credential that answers it carries, too: it is neither
// lost nor acted on twice, wherever the operator stops.
func decideRotation(f rotationFacts) rotationDecision {
	spec := f.rotation.Spec
	switch {
	case spec.Bootstrap && f.exists:
		return rotationDecision{ready: true, reason: c5c3v1alpha1.ReasonBootstrapComplete, message: "There is an application credential"}
	case spec.Bootstrap:
		return rotationDecision{reason: c5c3v1alpha1.ReasonWaitingForBootstrap, message: "The first application credential is being created"}
	case !f.exists:
		return rotationDecision{
			reason: c5c3v1alpha1.ReasonWaitingForApplicationCredential, message: "There is no application credential to replace yet",
		}
	case spec.ReMint && f.rotation.Status.LastTriggeredGeneration != f.rotation.Generation:
		d := f.trigger(fmt.Sprintf("%s/%d", f.rotation.UID, f.rotation.Generation), f.days(spec.GracePeriodDays))
		d.reMinted = true
		return f.scheduled(d)
	case f.password == "":
		return rotationDecision{
			reason:  c5c3v1alpha1.ReasonWaitingForAdminPassword,
			message: "The administrator's password is missing: without it no application credential can be created",
		}
	case f.outdated():
		return f.scheduled(f.trigger(fmt.Sprintf("%s/%s", f.rotation.UID, f.password[:16]), f.days(spec.GracePeriodDays)))
	}
	return f.onSchedule()
}

// outdated reports whether the credential was made with another password, and
// nobody but a CredentialRotation replaces it for that.
func (f rotationFacts) outdated() bool {
	return f.mode == c5c3v1alpha1.RotationManual && f.stamped && f.passwordHash != "" && f.passwordHash != f.password
}

func (f rotationFacts) days(n *int32) time.Duration { return time.Duration(ptr.Deref(n, 0)) * f.day }

// trigger asks for a new credential, unless that has been done.
func (f rotationFacts) trigger(request string, overlap time.Duration) rotationDecision {
	d := rotationDecision{
		ready: true, reason: c5c3v1alpha1.ReasonRotationTriggered, message: "A new application credential was requested", overlap: overlap,
	}
	if f.request != request {
		d.request = request
	}
	return d
}

// scheduled adds the next rotation to a decision that was not about it.
func (f rotationFacts) scheduled(d rotationDecision) rotationDecision {
	if f.followsSchedule() {
		d.next = ptr.To(metav1.NewTime(f.next()))
		d.after = max(d.next.Sub(f.now), time.Second)
	}
	return d
}

func (f rotationFacts) followsSchedule() bool {
	return f.mode == c5c3v1alpha1.RotationScheduled && f.rotation.Spec.IntervalDays != nil
}

// next is when the credential's successor is made: preRotationDays before the end
// of its interval. The interval of one that was itself made so early begins that
// much after it, so that one is made every intervalDays. A credential of the
// future, which a clock that was ahead has left, must not be used for ever: the
// time already announced stands, and otherwise one interval from now.
func (f rotationFacts) next() time.Time {
	announced := f.rotation.Status.NextRotation
	if f.request == f.scheduledRequest() && announced != nil {
		return announced.Time
	}
	wait := f.days(f.rotation.Spec.IntervalDays)
	if !strings.HasPrefix(f.request, f.scheduledPrefix()) {
		wait -= f.days(f.rotation.Spec.PreRotationDays)
	}
	next := f.inUseSince.Add(wait).Truncate(time.Second)
	bound := f.now.Add(wait)
	if !next.After(bound) {
		return next
	}
	if announced != nil && !announced.After(bound) {
		return announced.Time
	}
	return bound.Truncate(time.Second)
}

// scheduledPrefix begins every request that comes from the schedule.
func (f rotationFacts) scheduledPrefix() string { return fmt.Sprintf("%s/since-", f.rotation.UID) }

// scheduledRequest is the one for the successor of the credential in use, which
// tells one rotation from the next.
func (f rotationFacts) scheduledRequest() string {
	return f.scheduledPrefix() + strconv.FormatInt(f.inUseSince.Unix(), 10)
}

// onSchedule replaces the credential at its time. However many intervals have
// passed, that is once.
func (f rotationFacts) onSchedule() rotationDecision {
	spec := f.rotation.Spec
	switch {
	case spec.IntervalDays != nil && f.mode != c5c3v1alpha1.RotationScheduled:
		return rotationDecision{reason: c5c3v1alpha1.ReasonRotationModeNotScheduled, message: c5c3v1alpha1.ScheduleRemedy(f.mode)}
	case !f.followsSchedule():
		return rotationDecision{ready: true, reason: c5c3v1alpha1.ReasonNoRotationNeeded, message: "No new application credential was requested"}
	}
	next := f.next()
	if wait := next.Sub(f.now); wait > 0 {
		return rotationDecision{
			ready: true, reason: c5c3v1alpha1.ReasonRotationScheduled, next: ptr.To(metav1.NewTime(next)), after: wait,
			message: "The next application credential is made at " + next.UTC().Format(time.RFC3339),
		}
	}
	d := f.trigger(f.scheduledRequest(), f.days(spec.PreRotationDays)+f.days(spec.GracePeriodDays))
	d.next = ptr.To(metav1.NewTime(next))
	return d
}
