package admission

import (
	"fmt"

	"github.com/c5c3/forge/internal/common/ini"
)

// OptionWarnings name the options in spec.extraConfig that anyone may read who may read the
// resource. connection is the section with the URL of the database, which has no effect.
func OptionWarnings(extraConfig map[string]map[string]string, connection string) []string {
	found := []string{SecretsWarning("spec.extraConfig", extraConfig, ToSecretRef)}
	for section, options := range extraConfig {
		if _, set := options["connection"]; set && ini.Section(section) == connection {
			found = append(found, fmt.Sprintf("spec.extraConfig[%s][connection] has no effect, since the pods get the connection "+
				"from spec.database, and anyone who may read ConfigMaps can read it: remove it", section))
		}
	}
	return found
}
