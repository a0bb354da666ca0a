// Package metrics says which metrics the Keystone operator has. The reference of
// the documentation is written from it.
package metrics

import (
	"slices"

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/reconcile"
)

// Prefix begins the names of all metrics of the operator.
const Prefix = "keystone_operator"

var (
	keystone  = metric.Label{Name: "keystone", Meaning: "name of the Keystone"}
	keyType   = metric.Label{Name: "key_type", Meaning: "`fernet`, `credential` or `admin-password`"}
	result    = metric.Label{Name: "result", Meaning: "`succeeded` or `failed`"}
	cert      = metric.Label{Name: "certificate", Meaning: "`client`, or `ca` for the one of the bundle that expires first"}
	installed = metric.Label{Name: "installed", Meaning: "release whose schema is installed, empty before the first installation"}
	target    = metric.Label{Name: "target", Meaning: "release that a running upgrade leads to, empty when none runs"}
	phase     = metric.Label{Name: "phase", Meaning: "phase of a running upgrade, empty when none runs"}
)

// ofKeys tells apart what is rotated.
var ofKeys = []metric.Label{keystone, metric.Namespace, keyType}

// The metrics of the operator beside those that all operators have.
var (
	KeyRotationAge = metric.Definition{
		Name: Prefix + "_key_rotation_age_seconds", Type: metric.Gauge, Labels: ofKeys,
		Help: "Time since the key or password in use was rotated in, in seconds; since it was made when it never was.",
	}
	KeyRotationDue = metric.Definition{
		Name: Prefix + "_key_rotation_due_timestamp_seconds", Type: metric.Gauge, Labels: ofKeys,
		Help: "When the schedule asks for the successor of the key or password in use, as Unix time; " +
			"there is none while the rotation is suspended.",
	}
	KeyRotationHeld = metric.Definition{
		Name: Prefix + "_key_rotation_held_seconds", Type: metric.Gauge, Labels: ofKeys,
		Help: "Time for which finished keys have been held back because the keys in use are still needed, in seconds; " +
			"there is none when none are.",
	}
	DatabaseCertificateStart = metric.Definition{
		Name: Prefix + "_database_certificate_start_timestamp_seconds", Type: metric.Gauge,
		Labels: []metric.Label{keystone, metric.Namespace, cert},
		Help:   "From when a certificate for the connection to the database is valid, as Unix time.",
	}
	DatabaseCertificateExpiration = metric.Definition{
		Name: Prefix + "_database_certificate_expiration_timestamp_seconds", Type: metric.Gauge,
		Labels: []metric.Label{keystone, metric.Namespace, cert},
		Help:   "Until when a certificate for the connection to the database is valid, as Unix time.",
	}
	DBSyncs = metric.Definition{
		Name: Prefix + "_db_sync_total", Type: metric.Counter, Labels: []metric.Label{keystone, metric.Namespace, result},
		Help: "Jobs that worked on the database schema of a Keystone and ended, by result.",
	}
	DBSyncDuration = metric.Definition{
		Name: Prefix + "_db_sync_duration_seconds", Type: metric.Histogram, Labels: []metric.Label{keystone, metric.Namespace},
		Help:    "Time from the creation to the end of a Job that worked on the database schema of a Keystone, in seconds.",
		Buckets: []float64{1, 5, 10, 30, 60, 120, 300, 600},
	}
	ReleaseInfo = metric.Definition{
		Name: Prefix + "_release_info", Type: metric.Gauge,
		Labels: []metric.Label{metric.Namespace, metric.Name, installed, target, phase},
		Help:   "Which release a Keystone has, and which upgrade runs; always 1.",
	}
)

// Definitions returns all metrics of the operator.
func Definitions() []metric.Definition {
	return slices.Concat(reconcile.MetricDefinitions(Prefix), []metric.Definition{
		ReleaseInfo, KeyRotationAge, KeyRotationDue, KeyRotationHeld,
		DatabaseCertificateStart, DatabaseCertificateExpiration, DBSyncs, DBSyncDuration,
	}, operator.MetricDefinitions(Prefix))
}
