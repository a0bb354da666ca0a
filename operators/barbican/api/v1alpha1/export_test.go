package v1alpha1

// ConfigDir is the folder with the definition and the samples of the kind.
const ConfigDir = configDir

// Barbicans describes the kind to the tests with the webhook.
var Barbicans = barbicans
