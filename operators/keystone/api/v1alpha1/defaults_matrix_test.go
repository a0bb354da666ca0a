package v1alpha1

import "github.com/c5c3/forge/internal/common/testutil/apitest"

// defaultRow is a field that is filled in when the user leaves it out.
type defaultRow apitest.Default

func defaultRows() []defaultRow {
	const rotation = "spec.bootstrap.passwordRotation"
	return []defaultRow{
		{"spec.fernet.rotationSchedule", "0 0 * * 0", ""},
		{"spec.fernet.maxActiveKeys", int64(3), ""},
		{"spec.fernet.suspend", false, ""},
		{"spec.credentialKeys.rotationSchedule", "0 0 * * 0", ""},
		{"spec.credentialKeys.maxActiveKeys", int64(3), ""},
		{"spec.credentialKeys.suspend", false, ""},
		{"spec.trustFlush.schedule", "0 * * * *", ""},
		{"spec.trustFlush.suspend", false, ""},
		{"spec.bootstrap.adminUser", "admin", ""},
		{"spec.bootstrap.region", "RegionOne", ""},
		{"spec.bootstrap.passwordRotation.enabled", false, rotation},
		{"spec.bootstrap.passwordRotation.schedule", "0 0 1 * *", rotation},
		{"spec.bootstrap.passwordRotation.suspend", false, rotation},
		{"spec.bootstrap.passwordRotation.passwordLength", int64(32), rotation},
	}
}
