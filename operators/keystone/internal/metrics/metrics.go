// Package metrics defines the metrics of the Keystone operator. The metrics reference in
// the documentation is generated from it.
package metrics

import (
	"github.com/c5c3/forge/internal/common/metric"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Prefix is the prefix of all metric names of the operator.
const Prefix = "keystone_operator"

// Operator are the metrics that the operators of all services have.
var Operator = metric.Names{Prefix: Prefix, Kind: keystonev1alpha1.Kind}

// ofKeys are the labels of metrics about rotated keys and passwords.
var ofKeys = []metric.Label{
	Operator.Resource(), metric.Namespace, {Name: "key_type", Meaning: "`fernet`, `credential` or `admin-password`"},
}

// The metrics of the operator in addition to those of all services.
var (
	KeyRotationAge = metric.Definition{
		Name: Prefix + "_key_rotation_age_seconds", Type: metric.Gauge, Labels: ofKeys,
		Help: "Time since the key or password in use became active by a rotation, in seconds; since its creation if there was none.",
	}
	KeyRotationDue = metric.Definition{
		Name: Prefix + "_key_rotation_due_timestamp_seconds", Type: metric.Gauge, Labels: ofKeys,
		Help: "When the schedule calls for the successor of the key or password in use, as Unix time; " +
			"absent while the rotation is suspended.",
	}
	KeyRotationHeld = metric.Definition{
		Name: Prefix + "_key_rotation_held_seconds", Type: metric.Gauge, Labels: ofKeys,
		Help: "Time for which new keys have been held because the keys in use are still needed, in seconds; " +
			"absent when no rotation is held.",
	}
)

// Definitions returns all metrics of the operator.
func Definitions() []metric.Definition {
	return Operator.Definitions(KeyRotationAge, KeyRotationDue, KeyRotationHeld)
}
