package v1alpha1

// Reasons of events. An event marks a transition, never a state; the state is in
// the conditions.
const (
	// EventFinalizingORC: K-ORC is removing what it created in Keystone.
	EventFinalizingORC = "FinalizingORC"
	// EventORCTeardownComplete: what K-ORC created in Keystone is gone.
	EventORCTeardownComplete = "ORCTeardownComplete"
	// EventORCTeardownStalled: delete by hand in OpenStack what the message names; K-ORC could not.
	EventORCTeardownStalled = "ORCTeardownStalled"
	// EventORCObjectsInUse: delete the K-ORC objects of others that the message names; without the control plane
	// K-ORC cannot delete them.
	EventORCObjectsInUse = "ORCObjectsInUse"
	// EventKeystoneTeardownStalled: Keystone's database may still be on the volume of
	// the MariaDB; see what the deleted control plane left behind.
	EventKeystoneTeardownStalled = "KeystoneTeardownStalled"
	// EventBarbicanTeardownStalled: Barbican's database may still be on the volume of
	// the MariaDB; see what the deleted control plane left behind.
	EventBarbicanTeardownStalled = "BarbicanTeardownStalled"
	// EventGlanceTeardownStalled: Glance's database may still be on the volume of
	// the MariaDB; see what the deleted control plane left behind.
	EventGlanceTeardownStalled = "GlanceTeardownStalled"
	// EventPlacementTeardownStalled: Placement's database may still be on the volume of
	// the MariaDB; see what the deleted control plane left behind.
	EventPlacementTeardownStalled = "PlacementTeardownStalled"
	// EventSecretsAggregated: the target Secret holds everything the spec asks for.
	EventSecretsAggregated = "SecretsAggregated"
	// EventRotationNudged: the application credential is being replaced.
	EventRotationNudged = "RotationNudged"
)
