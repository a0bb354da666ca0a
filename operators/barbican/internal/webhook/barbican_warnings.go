package webhook

import (
	"fmt"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/ini"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

// warnings name the options in the spec that anyone may read who may read the resource.
func warnings(b *barbicanv1alpha1.Barbican) []string {
	found := []string{admission.SecretsWarning("spec.extraConfig", b.Spec.ExtraConfig, admission.ToSecretRef)}
	for section, options := range b.Spec.ExtraConfig {
		if _, set := options["connection"]; set && ini.Section(section) == "database" {
			found = append(found, fmt.Sprintf("spec.extraConfig[%s][connection] has no effect, since the pods get the connection "+
				"from spec.database, and anyone who may read ConfigMaps can read it: remove it", section))
		}
	}
	return found
}
