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

// rotationFacts are all inputs of a decision about a CredentialRotation. No other state
// is kept between two decisions.
type rotationFacts struct {
	rotation *c5c3v1alpha1.CredentialRotation
	now      time.Time
	// day is 24 hours except in tests.
	day time.Duration
	// mode is the rotation mode of the ControlPlane.
	mode c5c3v1alpha1.RotationMode
	// exists reports whether there is a credential to replace.
	exists bool
	// inUseSince is when the credential came into use.
	inUseSince time.Time
	// request and passwordHash are the values of the credential's annotations; stamped
	// reports whether it has the latter.
	request, passwordHash string
	stamped               bool
	// password is the hash of the administrator's password, "" if there is none.
	password string
}

// rotationDecision is what to do and what to report.
type rotationDecision struct {
	// ready reports that nothing has to be awaited, contradictory that the user has to
	// change a spec first.
	ready, contradictory bool
	reason, message      string
	// triggered reports that a new credential is requested, idle that there is nothing to
	// do: an earlier request may still be what is worth reporting.
	triggered, idle bool
	// request is what to write on the credential, "" to leave it unchanged.
	request string
	// overlap is how long the replaced credential stays valid.
	overlap time.Duration
	// reMinted reports that the reMint of this generation was acted on.
	reMinted bool
	// next is when the schedule replaces the credential.
	next *metav1.Time
	// after is the requeue delay, zero to wait for a change.
	after time.Duration
}

// decideRotation is the whole behaviour of a valid CredentialRotation. A request has an
// identity, which is also recorded on the credential that answers it: no request is lost
// or acted on twice, wherever the operator stops.
func decideRotation(f rotationFacts) rotationDecision {
	spec := f.rotation.Spec
	switch {
	case spec.Bootstrap && f.exists:
		return rotationDecision{ready: true, reason: c5c3v1alpha1.ReasonBootstrapComplete, message: "There is an application credential"}
	case spec.Bootstrap:
		return rotationDecision{reason: c5c3v1alpha1.ReasonWaitingForBootstrap, message: "The first application credential is being created"}
	case !f.exists:
		return rotationDecision{
			idle: true, reason: c5c3v1alpha1.ReasonWaitingForApplicationCredential, message: "There is no application credential to replace yet",
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

// outdated reports whether the credential was created with another password and only a
// CredentialRotation replaces it for that reason.
func (f rotationFacts) outdated() bool {
	return f.mode == c5c3v1alpha1.RotationManual && f.stamped && f.passwordHash != "" && f.passwordHash != f.password
}

func (f rotationFacts) days(n *int32) time.Duration { return time.Duration(ptr.Deref(n, 0)) * f.day }

// trigger requests a new credential, unless that has been done.
func (f rotationFacts) trigger(request string, overlap time.Duration) rotationDecision {
	d := rotationDecision{
		ready: true, triggered: true, overlap: overlap,
		reason: c5c3v1alpha1.ReasonRotationTriggered, message: "A new application credential was requested",
	}
	if f.request != request {
		d.request = request
	}
	return d
}

// scheduled adds the next scheduled rotation to another decision.
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

// next returns when the credential is replaced: preRotationDays before the end of its
// interval. The interval of a credential that was itself created that early starts so
// much later, so that a new one is created every intervalDays. A credential from the
// future, left by a clock that was ahead, must not be used forever: in that case the time
// already announced applies, or else one interval from now.
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

// scheduledPrefix is the prefix of every request from the schedule.
func (f rotationFacts) scheduledPrefix() string { return fmt.Sprintf("%s/since-", f.rotation.UID) }

// scheduledRequest identifies the request for the successor of the credential in use, and
// so distinguishes one rotation from the next.
func (f rotationFacts) scheduledRequest() string {
	return f.scheduledPrefix() + strconv.FormatInt(f.inUseSince.Unix(), 10)
}

// onSchedule replaces the credential when it is due, and only once, however many
// intervals have passed.
func (f rotationFacts) onSchedule() rotationDecision {
	spec := f.rotation.Spec
	switch {
	case spec.IntervalDays != nil && f.mode != c5c3v1alpha1.RotationScheduled:
		return rotationDecision{
			contradictory: true, reason: c5c3v1alpha1.ReasonRotationModeNotScheduled, message: c5c3v1alpha1.ScheduleRemedy(f.mode),
		}
	case !f.followsSchedule():
		return rotationDecision{
			ready: true, idle: true, reason: c5c3v1alpha1.ReasonNoRotationNeeded, message: "No new application credential was requested",
		}
	}
	next := f.next()
	if wait := next.Sub(f.now); wait > 0 {
		return rotationDecision{
			ready: true, reason: c5c3v1alpha1.ReasonRotationScheduled, next: ptr.To(metav1.NewTime(next)), after: wait,
			message: "The next application credential will be created at " + next.UTC().Format(time.RFC3339),
		}
	}
	d := f.trigger(f.scheduledRequest(), f.days(spec.PreRotationDays)+f.days(spec.GracePeriodDays))
	d.next = ptr.To(metav1.NewTime(next))
	return d
}
