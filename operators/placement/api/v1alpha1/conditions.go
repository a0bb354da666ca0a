package v1alpha1

// Condition types that only a Placement has.
const (
	// ConditionPlacementAPIReady reports whether the API answers.
	ConditionPlacementAPIReady = "PlacementAPIReady"
)
