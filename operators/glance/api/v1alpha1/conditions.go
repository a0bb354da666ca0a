package v1alpha1

// Condition types that only a Glance has.
const (
	// ConditionGlanceAPIReady reports whether the API answers.
	ConditionGlanceAPIReady = "GlanceAPIReady"
	// ConditionBackendsReady reports whether there is a backend for images, and whether the ones
	// that pods have can still be used.
	ConditionBackendsReady = "BackendsReady"
)
