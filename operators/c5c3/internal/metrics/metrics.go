// Package metrics defines the metrics of the c5c3 operator. The metrics reference in the
// documentation is generated from it.
package metrics

import (
	"slices"

	"github.com/c5c3/forge/internal/common/metric"
)

// Prefix is the prefix of all metric names of the operator.
const Prefix = "c5c3_operator"

// ofResource are the labels that identify a resource of a kind.
var ofResource = []metric.Label{metric.Namespace, metric.Name}

// The metrics of the operator in addition to those of all operators.
var (
	CredentialAge = metric.Definition{
		Name: Prefix + "_credential_age_seconds", Type: metric.Gauge, Labels: ofResource,
		Help: "Time for which the application credential of a ControlPlane has been in use, in seconds.",
	}
	RotationLast = metric.Definition{
		Name: Prefix + "_credential_rotation_last_timestamp_seconds", Type: metric.Gauge, Labels: ofResource,
		Help: "When a CredentialRotation last requested a new credential, as Unix time.",
	}
	RotationDue = metric.Definition{
		Name: Prefix + "_credential_rotation_due_timestamp_seconds", Type: metric.Gauge, Labels: ofResource,
		Help: "When the schedule of a CredentialRotation calls for the successor of the credential in use, as Unix time.",
	}
	BackupLast = metric.Definition{
		Name: Prefix + "_backup_last_success_timestamp_seconds", Type: metric.Gauge, Labels: ofResource,
		Help: "When the last good backup of a ControlPlane was completed, as Unix time.",
	}
	BackupDue = metric.Definition{
		Name: Prefix + "_backup_due_timestamp_seconds", Type: metric.Gauge, Labels: ofResource,
		Help: "When the schedule of a ControlPlane calls for the backup after the last good one, as Unix time.",
	}
	UpdateInfo = metric.Definition{
		Name: Prefix + "_update_info", Type: metric.Gauge,
		Labels: append(slices.Clone(ofResource),
			metric.Label{Name: "release", Meaning: "release that the ControlPlane asks for"},
			metric.Label{Name: "phase", Meaning: "phase of the update, `Idle` when none runs"}),
		Help: "Which release a ControlPlane asks for, and how far the update to it is; always 1.",
	}
)

// Definitions returns all metrics of the operator.
func Definitions() []metric.Definition {
	return slices.Concat(metric.Steps(Prefix), []metric.Definition{
		UpdateInfo, CredentialAge, RotationLast, RotationDue, BackupLast, BackupDue,
	}, metric.Webhooks(Prefix))
}
