package v1alpha1

// Condition types that only a Barbican has.
const (
	// ConditionKeyReady covers the key-encryption key and its rotation.
	ConditionKeyReady = "KeyEncryptionKeyReady"
	// ConditionBarbicanAPIReady reports whether the API answers.
	ConditionBarbicanAPIReady = "BarbicanAPIReady"
	// ConditionSecretStoresReady reports whether the default secret store is there, and whether the
	// ones that pods have can still be used.
	ConditionSecretStoresReady = "SecretStoresReady"
)

// Reasons of conditions that only a Barbican has.
const (
	// ReasonKeyAvailable: nothing to do.
	ReasonKeyAvailable = "KeyEncryptionKeyAvailable"
	// ReasonKeyRotationInProgress: wait; the message names what the rotation waits for.
	ReasonKeyRotationInProgress = "KeyRotationInProgress"
	// ReasonKeyRotationRefused: upgrade to the release that the message names, or take the request back.
	ReasonKeyRotationRefused = "KeyRotationRefused"
	// ReasonKeyRewrapFailed: correct what the message names; no secret is lost, and both keys stay until then.
	ReasonKeyRewrapFailed = "KeyRewrapFailed"
)
