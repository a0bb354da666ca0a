package v1alpha1

// ConfigDir is the folder with the definition and the samples of the kind.
const ConfigDir = configDir

// Glances describes the kind to the tests with the webhook.
var Glances = glances

// GlanceBackends describes the other kind, and Kinds all of them.
var (
	GlanceBackends = glanceBackends
	Kinds          = kinds
)
