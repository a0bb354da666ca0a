package service

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/rollout"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/tls"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Kinds reports which kinds the API server serves.
type Kinds interface {
	Served(kind schema.GroupVersionKind) bool
}

// Tools are the dependencies that all passes of an operator share.
type Tools struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// ThirdParty is the client for the kinds of other projects.
	ThirdParty client.Client
	// APIReader reads from the API server, bypassing the cache.
	APIReader client.Reader
	Scheme    *runtime.Scheme
	// NewList returns an empty list of the service's kind.
	NewList func() client.ObjectList
	// Peers lists the resources of the other services' kinds from the cache.
	Peers client.Reader
	// Refs reads the Secrets and ConfigMaps that resources refer to.
	Refs client.Reader
	// Owned writes the operator's own Secrets.
	Owned secrets.Owned
	// Kinds reports which kinds of other projects are installed.
	Kinds Kinds
	// Prober probes the APIs in the background.
	Prober *probe.Prober
	// Turns limits how many Deployments a new version of the operator changes at the same
	// time; nil means all.
	Turns *rollout.Turns
	Jobs  *job.Runner
	// SchemaJobs counts the Jobs that changed a database schema.
	SchemaJobs *job.Metrics
	// Certificates holds the metrics of database certificates; nil records none.
	Certificates *tls.Metrics
	// Cluster are the settings of the cluster.
	Cluster cluster.Settings
	// OperatorNamespace is the namespace from which health checks are sent, "" if
	// unknown.
	OperatorNamespace string
	// AllowUnsupportedUpgrades lets upgrades skip any number of releases, for tests.
	AllowUnsupportedUpgrades bool
	// Clock returns the current time; nil means time.Now.
	Clock func() time.Time
}

// Now returns the current time according to Clock.
func (t *Tools) Now() time.Time {
	if t.Clock == nil {
		return time.Now()
	}
	return t.Clock()
}

// Pass is one reconciliation of one resource. What it can do is up to its parts.
type Pass struct {
	*Tools
	*Definition
	Names
	// Slots hold what one step hands to later ones.
	*reconcile.Slots
	// Redactions are the values that output of tools must not show.
	Redactions
	Resource Resource
	// Spec is the resource's spec with its defaults applied. Status is written to the API
	// server at the end of the pass.
	Spec   *commonv1.ServiceSpec
	Status *commonv1.ServiceStatus
	// DatabaseHost is the host of a managed database, "" for that of the main Service of its
	// MariaDB. The step for the certificates of the database sets it, before any other step
	// that uses the database.
	DatabaseHost string
}

// NewPass returns a pass over the resource.
func NewPass(tools *Tools, definition *Definition, resource Resource) *Pass {
	return &Pass{
		Tools: tools, Definition: definition, Names: Names{resource.GetNamespace(), resource.GetName(), definition},
		Slots:    &reconcile.Slots{},
		Resource: resource, Spec: resource.ServiceSpec(), Status: resource.ServiceStatus(),
	}
}

// ServicePass implements [Scoped], also for a scope that embeds the pass.
func (p *Pass) ServicePass() *Pass { return p }

// Runner returns a Job runner that redacts what the pass hides.
func Runner(p *Pass) *job.Runner {
	runner := *p.Jobs
	runner.Hidden = p.Hidden()
	return &runner
}
