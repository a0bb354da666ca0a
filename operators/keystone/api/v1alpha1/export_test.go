package v1alpha1

// ConfigDir is the folder with the definition and the samples of the kind.
const ConfigDir = configDir

// IdentityBackends describes the kind of sources of users.
var IdentityBackends = identityBackends

// What the tests with the webhook share with those of the rules.
var (
	Keystones = keystones
	Minimal   = minimal
	Defaulted = defaulted
)
