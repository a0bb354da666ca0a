package v1alpha1

import (
	"fmt"
	"slices"
	"strings"

	"github.com/c5c3/forge/internal/common/config"
)

// connectionWarning says that the connection of the database is not taken from the
// configuration, "" when it is not there.
func connectionWarning(k *Keystone) string {
	for section, options := range k.Spec.ExtraConfig {
		if _, set := options["connection"]; set && config.Section(section) == "database" {
			return fmt.Sprintf("spec.extraConfig[%s][connection] has no effect, since the pods get the connection from spec.database, "+
				"and anyone who may read ConfigMaps can read it: remove it", section)
		}
	}
	return ""
}

// secretOptionsWarning names the options that look like secrets and stand in the
// spec, "" when there are none. No value is repeated.
func secretOptionsWarning(k *Keystone) string {
	var found []string
	for section, options := range k.Spec.ExtraConfig {
		for option, value := range options {
			if value != "" && holdsSecret(option) {
				found = append(found, fmt.Sprintf("[%s][%s]", section, option))
			}
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return fmt.Sprintf("spec.extraConfig: anyone who may read this resource or ConfigMaps can read %s; "+
		"move it to the Secret of spec.extraConfigSecretRef", strings.Join(found, ", "))
}

// holdsSecret reports whether an option with that name holds a password, or a URL with
// one, in Keystone or a library that it uses.
func holdsSecret(option string) bool {
	option = strings.ToLower(option)
	return option == "transport_url" || slices.ContainsFunc([]string{"password", "secret", "secret_key"}, func(end string) bool {
		return option == end || strings.HasSuffix(option, "_"+end)
	})
}
