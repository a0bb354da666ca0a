package v1alpha1

// Condition types of a Placement.
const (
	// ConditionDatabaseReady covers the database, its user and its schema.
	ConditionDatabaseReady = "DatabaseReady"
)

// Reasons of conditions.
const (
	// ReasonUpgradeAbortRefused: set image.tag to the target again; the schema no longer fits the old release.
	ReasonUpgradeAbortRefused = "UpgradeAbortRefused"
)
