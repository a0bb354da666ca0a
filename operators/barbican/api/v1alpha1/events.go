package v1alpha1

// Reasons of events that only a Barbican has. An event marks a transition, never a state; the
// state is in the conditions.
const (
	// EventKeyGenerated: the key-encryption key was generated.
	EventKeyGenerated = "KeyEncryptionKeyGenerated"
	// EventKeyRotated: a new key-encryption key has replaced the old one.
	EventKeyRotated = "KeyEncryptionKeyRotated"
	// EventKeyRewrapFailed: correct what the KeyEncryptionKeyReady condition names.
	EventKeyRewrapFailed = "KeyRewrapFailed"
)
