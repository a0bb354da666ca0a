package service

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
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
	// Refs reads the Secrets and ConfigMaps that resources refer to.
	Refs client.Reader
	// Owned writes the operator's own Secrets.
	Owned secrets.Owned
	// Kinds reports which kinds of other projects are installed.
	Kinds Kinds
	// Prober probes the APIs in the background.
	Prober *probe.Prober
	Jobs   *job.Runner
	// SchemaJobs counts the Jobs that changed a database schema.
	SchemaJobs *job.Metrics
	// Certificates holds the metrics of database certificates; nil records none.
	Certificates *tls.Metrics
	// Cluster are the settings of the cluster.
	Cluster cluster.Settings
	// OperatorNamespace is the namespace from which health checks are sent, "" if
	// unknown.
	OperatorNamespace string
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

// Pass is one reconciliation of one resource.
type Pass struct {
	*Tools
	*Definition
	// Slots hold what one step hands to later ones.
	*reconcile.Slots
	Resource Resource
	// Spec is the resource's spec with its defaults applied. Status is written to the API
	// server at the end of the pass.
	Spec   *commonv1.ServiceSpec
	Status *commonv1.ServiceStatus

	hidden []string
}

// NewPass returns a pass over the resource.
func NewPass(tools *Tools, definition *Definition, resource Resource) *Pass {
	return &Pass{
		Tools: tools, Definition: definition, Slots: &reconcile.Slots{},
		Resource: resource, Spec: resource.ServiceSpec(), Status: resource.ServiceStatus(),
	}
}

// ServicePass returns the pass itself, for a scope that embeds it.
func (p *Pass) ServicePass() *Pass { return p }

// Key returns the key of an object in the resource's namespace.
func (p *Pass) Key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: p.Resource.GetNamespace(), Name: name}
}

// Named returns the name of the instance's object with the suffix, such as "db-sync".
func (p *Pass) Named(suffix string) string { return p.Resource.GetName() + "-" + suffix }

// Meta returns the metadata of an object of the instance.
func (p *Pass) Meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: p.Resource.GetNamespace(), Labels: p.Labels(p.Resource.GetName()),
	}
}

// Image returns the image of the wanted release.
func (p *Pass) Image() string { return p.Spec.Image.Repository + ":" + p.Spec.Image.Tag }

// Hide redacts the values from output of tools that this pass quotes.
func (p *Pass) Hide(values ...string) {
	p.hidden = append(p.hidden, slices.DeleteFunc(values, func(value string) bool { return value == "" })...)
}

// Hidden returns the values that must not be quoted.
func (p *Pass) Hidden() []string { return p.hidden }

// Runner returns a Job runner that redacts the hidden values.
func (p *Pass) Runner() *job.Runner {
	runner := *p.Jobs
	runner.Hidden = p.hidden
	return &runner
}
