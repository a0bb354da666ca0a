package v1alpha1

import (
	"fmt"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/ini"
)

// connectionWarning says that the connection of the database is not taken from the
// configuration, "" when it is not there.
func connectionWarning(k *Keystone) string {
	for section, options := range k.Spec.ExtraConfig {
		if _, set := options["connection"]; set && ini.Section(section) == "database" {
			return fmt.Sprintf("spec.extraConfig[%s][connection] has no effect, since the pods get the connection from spec.database, "+
				"and anyone who may read ConfigMaps can read it: remove it", section)
		}
	}
	return ""
}

// secretsWarnings name the options that look like secrets and stand in the spec.
func secretsWarnings(k *Keystone) []string {
	plugins, filters := map[string]map[string]string{}, map[string]map[string]string{}
	for _, plugin := range k.Spec.Plugins {
		plugins[plugin.ConfigSection] = plugin.Config
	}
	for _, filter := range k.Spec.Middleware {
		filters[filter.Name] = filter.Config
	}
	return []string{
		admission.SecretsWarning("spec.extraConfig", k.Spec.ExtraConfig, admission.ToSecretRef),
		admission.SecretsWarning("spec.plugins", plugins, admission.ToSecretRef),
		admission.SecretsWarning("spec.middleware", filters,
			"a filter that also reads keystone.conf can have it from the Secret of spec.extraConfigSecretRef"),
	}
}
