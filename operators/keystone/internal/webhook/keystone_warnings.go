package webhook

import (
	"fmt"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/ini"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// connectionWarning says that the connection of the database is not taken from the
// configuration, "" when it is not there.
func connectionWarning(k *keystonev1alpha1.Keystone) string {
	for section, options := range k.Spec.ExtraConfig {
		if _, set := options["connection"]; set && ini.Section(section) == "database" {
			return fmt.Sprintf("spec.extraConfig[%s][connection] has no effect, since the pods get the connection from spec.database, "+
				"and anyone who may read ConfigMaps can read it: remove it", section)
		}
	}
	return ""
}

// secretsWarnings name the options that look like secrets and stand in the spec.
func secretsWarnings(k *keystonev1alpha1.Keystone) []string {
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

// fernetWarning says how many keys the lifetime of tokens needs, "" when there are
// enough.
func fernetWarning(k *keystonev1alpha1.Keystone) string {
	lifetime, ok := k.Spec.TokenLifetime()
	if !ok {
		return ""
	}
	required, err := keystonev1alpha1.RequiredFernetKeys(k.Spec.Fernet.RotationSchedule, lifetime)
	if err != nil || int64(k.Spec.Fernet.MaxActiveKeys) >= required {
		return ""
	}
	advice := fmt.Sprintf("set maxActiveKeys to at least %d, or rotate less often", required)
	if required > int64(keystonev1alpha1.MaxActiveKeys) {
		advice = fmt.Sprintf("rotate less often or shorten the lifetime, so that %d keys are enough", keystonev1alpha1.MaxActiveKeys)
	}
	return fmt.Sprintf(
		"spec.fernet: with maxActiveKeys %d and rotationSchedule %q a token can become invalid before its lifetime of %s ends: %s",
		k.Spec.Fernet.MaxActiveKeys, k.Spec.Fernet.RotationSchedule, lifetime, advice)
}
