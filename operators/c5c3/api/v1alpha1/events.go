package v1alpha1

// Reasons of events. An event marks a transition, never a state; the state is in
// the conditions.
const (
	// EventFinalizingORC: K-ORC is removing what it made in Keystone.
	EventFinalizingORC = "FinalizingORC"
	// EventORCTeardownComplete: what K-ORC made in Keystone is gone.
	EventORCTeardownComplete = "ORCTeardownComplete"
	// EventORCTeardownStalled: delete by hand in OpenStack what the message names; K-ORC could not.
	EventORCTeardownStalled = "ORCTeardownStalled"
	// EventKeystoneTeardownStalled: the database may still be on the volume of the MariaDB; see what is left of the control plane.
	EventKeystoneTeardownStalled = "KeystoneTeardownStalled"
	// EventPlacementTeardownStalled: the same of Placement's database.
	EventPlacementTeardownStalled = "PlacementTeardownStalled"
	// EventSecretsAggregated: the collecting Secret holds everything the spec asks for.
	EventSecretsAggregated = "SecretsAggregated"
	// EventRotationNudged: the application credential is being replaced.
	EventRotationNudged = "RotationNudged"
)
