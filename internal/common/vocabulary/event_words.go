package vocabulary

// Events of all kinds.
const (
	// EventPaused: nothing to do; the operator leaves the resource as it is until its annotation is removed.
	EventPaused = "Paused"
	// EventResumed: nothing to do; the operator works on the resource again.
	EventResumed = "Resumed"
	// EventHibernated: nothing to do; nothing of the resource runs until spec.hibernation is removed.
	EventHibernated = "Hibernated"
)
