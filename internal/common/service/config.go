package service

import "github.com/c5c3/forge/internal/common/reconcile"

// Rendered is the current configuration of an instance.
type Rendered struct {
	// ConfigMap is the name of the immutable ConfigMap with the files.
	ConfigMap string
	// Secret is the name of the immutable Secret with the secret options, "" if there are
	// none. SecretFile is the file that holds them.
	Secret, SecretFile string
	// Given stands for the secret options that users have given. It stays the same when the
	// operator derives others from them.
	Given string
	// Policy is the file with the policy rules that users have given, "" without any.
	Policy string
	// Options are all options by section, including those in the Secret.
	Options map[string]map[string]string
}

// Config is the configuration that the Config step of the pass rendered.
var Config = reconcile.NewSlot[Rendered]("Config")
