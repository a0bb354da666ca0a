package webhook

import (
	"fmt"
	"time"

	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// What Keystone does unless its own resource says otherwise: the number of
// Fernet keys it keeps, and the time for which it accepts a token, see
// https://docs.openstack.org/keystone/latest/configuration/config-options.html
// on [token] expiration and allow_expired_window.
const (
	keystoneFernetKeys         = 3
	keystoneTokenExpiration    = time.Hour
	keystoneAllowExpiredWindow = 48 * time.Hour
)

// fernetWarning says how many keys a rotation so often needs, "" when Keystone keeps
// enough.
func fernetWarning(cp *c5c3v1alpha1.ControlPlane) string {
	keystone := cp.Spec.Services.Keystone
	if keystone == nil || keystone.RotationInterval == nil {
		return ""
	}
	interval := keystone.RotationInterval.Duration
	if _, ok := c5c3v1alpha1.RotationDays(*keystone.RotationInterval); !ok {
		return ""
	}
	required := fernet.RequiredActiveKeys(keystoneTokenExpiration, keystoneAllowExpiredWindow, interval)
	if required <= keystoneFernetKeys {
		return ""
	}
	return fmt.Sprintf(
		"spec.services.keystone.rotationInterval: a rotation every %s needs spec.fernet.maxActiveKeys of at least %d on Keystone %s; "+
			"with its default of %d keys a token could become invalid before its lifetime ends",
		interval, required, cp.KeystoneName(), keystoneFernetKeys)
}

// orderWarning warns about a Placement of a later release than that of the Keystone at which
// it validates tokens. An update takes Keystone first.
func orderWarning(cp *c5c3v1alpha1.ControlPlane) string {
	keystone, placement := cp.Spec.Services.Keystone, cp.Spec.Services.Placement
	if keystone == nil || placement == nil {
		return ""
	}
	tag := func(image *commonv1.ImageSpec) string {
		if image == nil || image.Tag == "" {
			return cp.Spec.OpenStackRelease
		}
		return image.Tag
	}
	first, errFirst := release.Parse(tag(keystone.Image))
	second, errSecond := release.Parse(tag(placement.Image))
	if errFirst != nil || errSecond != nil || second.Compare(first) <= 0 {
		return ""
	}
	return fmt.Sprintf("Placement gets release %s while Keystone has %s: OpenStack upgrades Keystone first; "+
		"raise spec.services.keystone.image.tag or spec.openStackRelease before, or set spec.services.placement.image.tag to %s until then",
		second, first, first)
}
