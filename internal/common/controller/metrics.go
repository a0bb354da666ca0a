package controller

import (
	"slices"
	"strings"
	"time"

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
)

// Metrics describes the metrics that the operators of all services have.
type Metrics struct {
	// Prefix is the prefix of all metric names of the operator, such as
	// "placement_operator".
	Prefix string
	// Kind is the kind of the resources, such as "Placement".
	Kind string
}

// Resource is the label with the name of a resource, such as "placement".
func (m Metrics) Resource() metric.Label {
	return metric.Label{Name: strings.ToLower(m.Kind), Meaning: "name of the " + m.Kind}
}

// Definitions returns the common definitions, followed by those that only this operator
// has.
func (m Metrics) Definitions(own ...metric.Definition) []metric.Definition {
	return slices.Concat(
		reconcile.MetricDefinitions(m.Prefix),
		[]metric.Definition{m.releaseInfo()}, own,
		[]metric.Definition{m.certificateStart(), m.certificateExpiration(), m.schemaJobs(), m.schemaJobDuration()},
		metric.Webhooks(m.Prefix),
	)
}

func (m Metrics) releaseInfo() metric.Definition {
	return metric.Definition{
		Name: m.Prefix + "_release_info", Type: metric.Gauge,
		Labels: []metric.Label{
			metric.Namespace, metric.Name,
			{Name: "installed", Meaning: "release whose schema is installed, empty before the first installation"},
			{Name: "target", Meaning: "target release of the upgrade in progress, empty when there is none"},
			{Name: "phase", Meaning: "phase of the upgrade in progress, empty when there is none"},
		},
		Help: "Which release a " + m.Kind + " has, and which upgrade runs; always 1.",
	}
}

func (m Metrics) schemaJobs() metric.Definition {
	return metric.Definition{
		Name: m.Prefix + "_db_sync_total", Type: metric.Counter,
		Labels: []metric.Label{m.Resource(), metric.Namespace, {Name: "result", Meaning: "`succeeded` or `failed`"}},
		Help:   "Jobs that worked on the database schema of a " + m.Kind + " and ended, by result.",
	}
}

func (m Metrics) schemaJobDuration() metric.Definition {
	return metric.Definition{
		Name: m.Prefix + "_db_sync_duration_seconds", Type: metric.Histogram, Labels: []metric.Label{m.Resource(), metric.Namespace},
		Help:    "Time from the creation to the end of a Job that worked on the database schema of a " + m.Kind + ", in seconds.",
		Buckets: []float64{1, 5, 10, 30, 60, 120, 300, 600},
	}
}

func (m Metrics) certificateStart() metric.Definition {
	return m.certificate("start", "When a certificate for the connection to the database becomes valid, as Unix time.")
}

func (m Metrics) certificateExpiration() metric.Definition {
	return m.certificate("expiration", "When a certificate for the connection to the database expires, as Unix time.")
}

func (m Metrics) certificate(end, help string) metric.Definition {
	const meaning = "`client`, or `ca` for the one of the bundle that expires first"
	return metric.Definition{
		Name: m.Prefix + "_database_certificate_" + end + "_timestamp_seconds", Type: metric.Gauge,
		Labels: []metric.Label{m.Resource(), metric.Namespace, {Name: "certificate", Meaning: meaning}},
		Help:   help,
	}
}

// releases exposes the installed and the target release of each resource.
func releases[R service.Resource](m Metrics) reconcile.Gauge[R] {
	return reconcile.Gauge[R]{
		Definition: m.releaseInfo(),
		Read: func(resource R, _ time.Time) []reconcile.Sample {
			status := resource.ServiceStatus()
			return []reconcile.Sample{{
				Labels: []string{status.InstalledRelease, status.TargetRelease, string(status.UpgradePhase)}, Value: 1,
			}}
		},
	}
}
