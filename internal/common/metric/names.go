package metric

import (
	"slices"
	"strings"
)

// Names name the metrics that the operators of all API services have.
type Names struct {
	// Prefix is the prefix of all metric names of the operator, such as
	// "placement_operator".
	Prefix string
	// Kind is the kind of the resources, such as "Placement".
	Kind string
}

// Resource is the label with the name of a resource, such as "placement".
func (n Names) Resource() Label {
	return Label{Name: strings.ToLower(n.Kind), Meaning: "name of the " + n.Kind}
}

// Definitions returns the definitions of every operator of a service with a database, and
// those that only this operator has.
func (n Names) Definitions(own ...Definition) []Definition {
	database := []Definition{n.CertificateStart(), n.CertificateExpiration(), n.SchemaJobs(), n.SchemaJobDuration()}
	return n.WithoutDatabase(slices.Concat(own, database)...)
}

// WithoutDatabase returns the definitions of every operator of a service without a database,
// and those that only this operator has.
func (n Names) WithoutDatabase(own ...Definition) []Definition {
	return slices.Concat(Steps(n.Prefix), []Definition{n.ReleaseInfo()}, own, Webhooks(n.Prefix))
}

// ReleaseInfo is which release resources have.
func (n Names) ReleaseInfo() Definition {
	return Definition{
		Name: n.Prefix + "_release_info", Type: Gauge,
		Labels: []Label{
			Namespace, Name,
			{Name: "installed", Meaning: "release whose schema is installed, empty before the first installation"},
			{Name: "target", Meaning: "target release of the upgrade in progress, empty when there is none"},
			{Name: "phase", Meaning: "phase of the upgrade in progress, empty when there is none"},
		},
		Help: "Which release a " + n.Kind + " has, and which upgrade runs; always 1.",
	}
}

// SchemaJobs counts the Jobs that worked on the database schema.
func (n Names) SchemaJobs() Definition {
	return Definition{
		Name: n.Prefix + "_db_sync_total", Type: Counter,
		Labels: []Label{n.Resource(), Namespace, {Name: "result", Meaning: "`succeeded` or `failed`"}},
		Help:   "Jobs that worked on the database schema of a " + n.Kind + " and ended, by result.",
	}
}

// SchemaJobDuration is how long these Jobs took.
func (n Names) SchemaJobDuration() Definition {
	return Definition{
		Name: n.Prefix + "_db_sync_duration_seconds", Type: Histogram, Labels: []Label{n.Resource(), Namespace},
		Help:    "Time from the creation to the end of a Job that worked on the database schema of a " + n.Kind + ", in seconds.",
		Buckets: []float64{1, 5, 10, 30, 60, 120, 300, 600},
	}
}

// CertificateStart is when certificates for the database become valid.
func (n Names) CertificateStart() Definition {
	return n.certificate("start", "When a certificate for the connection to the database becomes valid, as Unix time.")
}

// CertificateExpiration is when they expire.
func (n Names) CertificateExpiration() Definition {
	return n.certificate("expiration", "When a certificate for the connection to the database expires, as Unix time.")
}

func (n Names) certificate(end, help string) Definition {
	const meaning = "`client`, or `ca` for the one of the bundle that expires first"
	return Definition{
		Name: n.Prefix + "_database_certificate_" + end + "_timestamp_seconds", Type: Gauge,
		Labels: []Label{n.Resource(), Namespace, {Name: "certificate", Meaning: meaning}},
		Help:   help,
	}
}
