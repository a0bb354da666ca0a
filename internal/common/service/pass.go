package service

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/rollout"
	"github.com/c5c3/forge/internal/common/tls"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Tools are the dependencies that all passes of an operator share.
type Tools struct {
	kube.Access
	// NewList returns an empty list of the service's kind.
	NewList func() client.ObjectList
	// Peers lists the resources of the other services' kinds from the cache.
	Peers client.Reader
	// Prober probes the APIs in the background.
	Prober *probe.Prober
	// Turns limits how many Deployments a new version of the operator changes at the same
	// time; nil means all.
	Turns *rollout.Turns
	Jobs  *job.Runner
	// SchemaJobs counts the Jobs that changed a database schema; it is nil for a service
	// without a database.
	SchemaJobs *job.Metrics
	// Certificates holds the metrics of database certificates; nil records none.
	Certificates *tls.Metrics
	// OperatorNamespace is the namespace from which health checks are sent, "" if
	// unknown.
	OperatorNamespace string
	// AllowUnsupportedUpgrades lets upgrades skip any number of releases, for tests.
	AllowUnsupportedUpgrades bool
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
	// Data is the part of the spec about the database, nil if the service has none.
	Data *commonv1.DataSpec
	// Options is the part of the spec about options and the policy. It is empty if the service
	// reads none.
	Options *commonv1.OptionsSpec
	// DatabaseHost is the host of a managed database, "" for that of the main Service of its
	// MariaDB. The step for the certificates of the database sets it, before any other step
	// that uses the database.
	DatabaseHost string
}

// NewPass returns a pass over the resource.
func NewPass(tools *Tools, definition *Definition, resource Resource) *Pass {
	options := commonv1.OptionsOf(resource)
	if options == nil {
		options = &commonv1.OptionsSpec{}
	}
	return &Pass{
		Tools: tools, Definition: definition, Names: Names{resource.GetNamespace(), resource.GetName(), definition},
		Slots:    &reconcile.Slots{},
		Resource: resource, Spec: resource.ServiceSpec(), Status: resource.ServiceStatus(),
		Data: commonv1.DataOf(resource), Options: options,
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
