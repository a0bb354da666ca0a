package v1alpha1

import (
	"fmt"
	"time"

	"github.com/c5c3/forge/internal/common/keys"
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
func fernetWarning(cp *ControlPlane) string {
	keystone := cp.Spec.Services.Keystone
	if keystone == nil || keystone.RotationInterval == nil {
		return ""
	}
	interval := keystone.RotationInterval.Duration
	if _, ok := RotationDays(*keystone.RotationInterval); !ok {
		return ""
	}
	required := keys.RequiredActiveKeys(keystoneTokenExpiration, keystoneAllowExpiredWindow, interval)
	if required <= keystoneFernetKeys {
		return ""
	}
	return fmt.Sprintf(
		"spec.services.keystone.rotationInterval: a rotation every %s needs spec.fernet.maxActiveKeys of at least %d on Keystone %s; "+
			"with its default of %d keys a token could become invalid before its lifetime ends",
		interval, required, cp.KeystoneName(), keystoneFernetKeys)
}

// HasSchedule reports whether the CredentialRotation replaces the credential on a
// schedule. One that asks for the first credential does nothing else.
func (s *CredentialRotationSpec) HasSchedule() bool { return s.IntervalDays != nil && !s.Bootstrap }

// ScheduleRemedy says what to do about a schedule of a CredentialRotation that has no effect in the ControlPlane's rotation mode.
func ScheduleRemedy(mode RotationMode) string {
	return fmt.Sprintf("Set spec.korc.adminCredential.applicationCredential.rotation.mode of the ControlPlane to %s, or remove intervalDays: "+
		"a schedule has no effect in the mode %s", RotationScheduled, mode)
}
