package v1alpha1

// ConfigDir is the folder with the definition and the samples of the kind.
const ConfigDir = configDir

// Barbicans describes the kind to the tests with the webhook.
var Barbicans = barbicans

// SecretStores describes the other kind, and Kinds all of them.
var (
	SecretStores = secretStores
	Kinds        = kinds
)
