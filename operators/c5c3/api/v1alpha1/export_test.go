package v1alpha1

// ConfigDir is the folder with the definitions and the samples of the kinds.
const ConfigDir = configDir

// What the tests with the webhooks share with those of the rules.
var (
	Kinds            = kinds
	ControlPlanes    = controlPlanes
	Minimal          = minimal
	Completed        = completed
	ExternalDatabase = externalDatabase
)
