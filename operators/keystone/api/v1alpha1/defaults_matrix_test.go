package v1alpha1

import "github.com/c5c3/forge/internal/common/testutil/apitest"

// defaultRow is a field that is filled in when the user leaves it out.
type defaultRow apitest.Default

func defaultRows() []defaultRow {
	const tls, rotation, uwsgi = "spec.database.tls", "spec.bootstrap.passwordRotation", "spec.uwsgi"
	return []defaultRow{
		{"spec.replicas", int64(3), ""},
		{"spec.cache.backend", "dogpile.cache.pymemcache", ""},
		{"spec.cache.replicas", int64(3), ""},
		{"spec.database.tls.enabled", false, tls},
		{"spec.database.tls.mode", "require", tls},
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
		{"spec.uwsgi.processes", int64(2), uwsgi},
		{"spec.uwsgi.threads", int64(1), uwsgi},
		{"spec.uwsgi.httpKeepAlive", true, uwsgi},
		{"spec.logging.format", "text", ""},
		{"spec.logging.level", "INFO", ""},
		{"spec.logging.debug", false, ""},
	}
}
