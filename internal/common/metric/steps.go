package metric

// NoCondition is the condition in the label of errors that belong to no step, such as a
// failed status write.
const NoCondition = "UNKNOWN"

// Steps are the metrics that every operator has of its steps and of the conditions of its
// resources.
func Steps(prefix string) []Definition {
	return []Definition{StepDuration(prefix), StepErrors(prefix), Condition(prefix), Transition(prefix)}
}

var step = Label{Name: "sub_reconciler", Meaning: "name of the step"}

// StepDuration is how long steps take.
func StepDuration(prefix string) Definition {
	return Definition{
		Name: prefix + "_reconcile_duration_seconds", Type: Histogram,
		Help:    "Time one sub-reconciler took in one pass, in seconds.",
		Labels:  []Label{step},
		Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}
}

// StepErrors counts the errors of steps.
func StepErrors(prefix string) Definition {
	return Definition{
		Name: prefix + "_reconcile_errors_total", Type: Counter,
		Help: "Passes of a sub-reconciler that ended in an error and are retried; waiting for a user is not an error.",
		Labels: []Label{step, {
			Name: "condition_type", Meaning: "condition that the step owns, `" + NoCondition + "` for an error of no step",
		}},
	}
}

var (
	conditionType   = Label{Name: "type", Meaning: "type of the condition"}
	conditionStatus = Label{Name: "status", Meaning: "status of the condition: `True`, `False` or `Unknown`"}
	conditionReason = Label{Name: "reason", Meaning: "reason of the condition, from the kind's list of conditions"}
)

// Condition is the status of the conditions of resources.
func Condition(prefix string) Definition {
	return Definition{
		Name: prefix + "_resource_condition", Type: Gauge,
		Help:   "Status of a condition of a resource: 1 for the current status, 0 for the others.",
		Labels: []Label{Kind, Namespace, Name, conditionType, conditionStatus},
	}
}

// Transition is since when conditions of resources have their status.
func Transition(prefix string) Definition {
	return Definition{
		Name: prefix + "_resource_condition_transition_timestamp_seconds", Type: Gauge,
		Help:   "When a condition of a resource got its current status, as Unix time; Ready without any status counts from the creation.",
		Labels: []Label{Kind, Namespace, Name, conditionType, conditionStatus, conditionReason},
	}
}
