package v1alpha1

import "fmt"

// HasSchedule reports whether the CredentialRotation replaces the credential on a
// schedule. One that asks for the first credential does nothing else.
func (s *CredentialRotationSpec) HasSchedule() bool { return s.IntervalDays != nil && !s.Bootstrap }

// ScheduleRemedy says what to do about a schedule of a CredentialRotation that has no effect in the ControlPlane's rotation mode.
func ScheduleRemedy(mode RotationMode) string {
	return fmt.Sprintf("Set spec.korc.adminCredential.applicationCredential.rotation.mode of the ControlPlane to %s, or remove intervalDays: "+
		"a schedule has no effect in the mode %s", RotationScheduled, mode)
}
