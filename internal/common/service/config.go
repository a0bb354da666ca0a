package service

import "github.com/c5c3/forge/internal/common/reconcile"

// Rendered is the current configuration of an instance.
type Rendered struct {
	// ConfigMap is the name of the immutable ConfigMap with the files.
	ConfigMap string
	// Secret is the name of the immutable Secret with options that are secret, "" for
	// none, and SecretFile the file that they are in.
	Secret, SecretFile string
	// Options are all options by section, those of the Secret among them.
	Options map[string]map[string]string
}

// Config is the configuration of the pass, set by the step that renders it.
var Config = reconcile.NewSlot[Rendered]("Config")
