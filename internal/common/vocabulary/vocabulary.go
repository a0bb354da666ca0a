// Package vocabulary defines the conditions, reasons and events with the same meaning on
// every kind, and the format in which an API package lists the conditions and events of its
// kinds. The reference is generated from such a list, and tests compare it with the code.
package vocabulary

import corev1 "k8s.io/api/core/v1"

// Kind lists the conditions and events of a kind.
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

// Condition is a condition type with its reasons. The meaning of each reason is
// documented at its constant.
type Condition struct {
	// Type is the condition's type.
	Type string
	// Aggregated reports whether Ready needs this condition to be True.
	Aggregated bool
	// True and False are the reasons with that status.
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

// Types returns the types of the conditions.
func Types(conditions []Condition) []string {
	types := make([]string, len(conditions))
	for i, condition := range conditions {
		types[i] = condition.Type
	}
	return types
}

// Abnormal returns the conditions that are only present while they are True. Apart from an
// invalid spec, the kind is stalled for the given reasons.
func Abnormal(stalled ...string) []Condition {
	return []Condition{
		{Type: ConditionReconciling, True: []string{ReasonProgressing}},
		{Type: ConditionStalled, True: append([]string{ReasonInvalidSpec}, stalled...)},
		{Type: ConditionPaused, True: []string{ReasonPaused}},
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
