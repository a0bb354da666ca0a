// Package vocabulary has the words that mean the same on every kind, and the form in
// which an API package lists what its kinds say in conditions and events. The
// reference is written from such a list, and tests compare it with what is said.
package vocabulary

import corev1 "k8s.io/api/core/v1"

// Kind is what one kind says about itself.
type Kind struct {
	// Kind is the kind's name.
	Kind string
	// Conditions are its conditions, in the order in which they become True, with all
	// their reasons. ReasonReconcileError belongs to every condition and is listed with
	// Ready only; so is ReasonInvalidSpec.
	Conditions []Condition
	// Events are its events.
	Events []Event
}

// Condition is a condition type with the reasons it has. What a reason means to the
// user stands at its constant.
type Condition struct {
	// Type is the condition's type.
	Type string
	// Aggregated reports whether Ready needs this condition to be True.
	Aggregated bool
	// True and False are the reasons the condition has with that status.
	True, False []string
}

// Event is an event and whether it reports a problem.
type Event struct {
	// Reason is the event's reason.
	Reason string
	// Type is Normal or Warning.
	Type string
}

// Aggregated returns the types of the conditions that Ready needs to be True.
func (k Kind) Aggregated() []string {
	var types []string
	for _, condition := range k.Conditions {
		if condition.Aggregated {
			types = append(types, condition.Type)
		}
	}
	return types
}

// Kstatus returns the two conditions of kstatus. The reasons are those with which a kind
// is stalled beside an invalid spec.
func Kstatus(stalled ...string) []Condition {
	return []Condition{
		{Type: ConditionReconciling, True: []string{ReasonProgressing}},
		{Type: ConditionStalled, True: append([]string{ReasonInvalidSpec}, stalled...)},
	}
}

// Normal returns events that report progress.
func Normal(reasons ...string) []Event { return events(corev1.EventTypeNormal, reasons) }

// Warnings returns events that report a problem.
func Warnings(reasons ...string) []Event { return events(corev1.EventTypeWarning, reasons) }

func events(eventType string, reasons []string) []Event {
	all := make([]Event, 0, len(reasons))
	for _, reason := range reasons {
		all = append(all, Event{Reason: reason, Type: eventType})
	}
	return all
}
