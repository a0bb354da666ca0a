package admission

import (
	"fmt"
	"slices"
	"strings"
)

// ToSecretRef is what to do about an option that can come from a Secret.
const ToSecretRef = "move it to the Secret of spec.extraConfigSecretRef"

// SecretsWarning names the options of a field that look like secrets, by section or, for
// what has no sections, by name; it is "" when there are none. No value is repeated.
func SecretsWarning(field string, sections map[string]map[string]string, remedy string) string {
	var found []string
	for section, options := range sections {
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
	return fmt.Sprintf("%s: anyone who may read this resource or ConfigMaps can read %s; %s", field, strings.Join(found, ", "), remedy)
}

// holdsSecret reports whether an option with that name holds a password, or a URL with
// one, in a service or a library that it uses.
func holdsSecret(option string) bool {
	option = strings.ToLower(option)
	return option == "transport_url" || slices.ContainsFunc([]string{"password", "secret", "secret_key"}, func(end string) bool {
		return option == end || strings.HasSuffix(option, "_"+end)
	})
}
