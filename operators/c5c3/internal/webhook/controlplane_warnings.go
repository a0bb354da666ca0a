package webhook

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// What Keystone does unless its own resource says otherwise: the number of Fernet keys it
// keeps, and the time between two rotations.
const (
	keystoneFernetKeys       = 3
	keystoneRotationInterval = 7 * 24 * time.Hour
)

// fernetWarning says how many keys a rotation so often needs, "" when Keystone keeps
// enough.
func fernetWarning(cp *c5c3v1alpha1.ControlPlane) string {
	keystone := cp.Spec.Services.Keystone
	if keystone == nil {
		return ""
	}
	interval := keystoneRotationInterval
	if own := keystone.RotationInterval; own != nil {
		if _, ok := c5c3v1alpha1.RotationDays(*own); !ok {
			return ""
		}
		interval = own.Duration
	}
	lifetime, ok := controlplane.TokenLifetime(globalOptions(cp).Merge())
	required := fernet.RequiredActiveKeys(lifetime, 0, interval)
	if !ok || required <= keystoneFernetKeys {
		return ""
	}
	return fmt.Sprintf(
		"spec.services.keystone.rotationInterval: a rotation every %s needs spec.fernet.maxActiveKeys of at least %d on Keystone %s; "+
			"with its default of %d keys a token could become invalid before its lifetime ends",
		interval, required, cp.KeystoneName(), keystoneFernetKeys)
}

func globalOptions(cp *c5c3v1alpha1.ControlPlane) ini.File {
	if cp.Spec.Global == nil {
		return nil
	}
	return cp.Spec.Global.ExtraConfig
}

// optionWarnings name the global options that look like secrets, and those that have no
// effect on any service.
func optionWarnings(cp *c5c3v1alpha1.ControlPlane) []string {
	const field = "spec.global.extraConfig"
	options := globalOptions(cp)
	found := []string{admission.SecretsWarning(field, options,
		"move it to the Secret of spec.extraConfigSecretRef of the resource of each service that needs it")}
	for _, section := range slices.Sorted(maps.Keys(options)) {
		name := ini.Section(section)
		if _, set := options.Get(section, "connection"); set && (name == "database" || name == "placement_database") {
			found = append(found, fmt.Sprintf("%s[%s][connection] has no effect, since the pods get the connection from the database "+
				"of the control plane, and anyone who may read ConfigMaps can read it: remove it", field, section))
		}
	}
	return found
}

// orderWarnings warn about services of a later release than that of the Keystone at which they
// validate tokens. An update takes Keystone first.
func orderWarnings(cp *c5c3v1alpha1.ControlPlane) []string {
	var found []string
	if barbican := cp.Spec.Services.Barbican; barbican != nil {
		found = append(found, orderWarning(cp, "Barbican", "barbican", barbican.Image))
	}
	if placement := cp.Spec.Services.Placement; placement != nil {
		found = append(found, orderWarning(cp, "Placement", "placement", placement.Image))
	}
	if glance := cp.Spec.Services.Glance; glance != nil {
		found = append(found, orderWarning(cp, "Glance", "glance", glance.Image))
	}
	return found
}

func orderWarning(cp *c5c3v1alpha1.ControlPlane, kind, name string, image *commonv1.ImageSpec) string {
	keystone := cp.Spec.Services.Keystone
	if keystone == nil {
		return ""
	}
	tag := func(image *commonv1.ImageSpec) string {
		if image == nil || image.Tag == "" {
			return cp.Spec.OpenStackRelease
		}
		return image.Tag
	}
	first, errFirst := release.Parse(tag(keystone.Image))
	second, errSecond := release.Parse(tag(image))
	if errFirst != nil || errSecond != nil || second.Compare(first) <= 0 {
		return ""
	}
	return fmt.Sprintf("%s gets release %s while Keystone has %s: OpenStack upgrades Keystone first; "+
		"raise spec.services.keystone.image.tag or spec.openStackRelease before, or set spec.services.%s.image.tag to %s until then",
		kind, second, first, name, first)
}

// identityBackendWarnings are those of each identity backend on its own.
func identityBackendWarnings(cp *c5c3v1alpha1.ControlPlane) (found []string) {
	at := field.NewPath("spec", "services", "keystone", "identityBackends")
	for i, backend := range cp.IdentityBackends() {
		found = append(found, backend.Warnings(at.Index(i))...)
	}
	return found
}
