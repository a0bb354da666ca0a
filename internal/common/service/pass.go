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

// Kinds says whether the API server serves a kind.
type Kinds interface {
	Served(kind schema.GroupVersionKind) bool
}

// Tools are what the steps of every pass of an operator work with.
type Tools struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// ThirdParty is Client for the kinds of other projects.
	ThirdParty client.Client
	// APIReader reads from the API server.
	APIReader client.Reader
	Scheme    *runtime.Scheme
	// NewList returns an empty list of the service's kind.
	NewList func() client.ObjectList
	// Refs reads the Secrets and ConfigMaps that resources refer to.
	Refs client.Reader
	// Owned writes the Secrets of the operator.
	Owned secrets.Owned
	// Kinds says which kinds of other projects are installed.
	Kinds Kinds
	// Prober asks the APIs in the background.
	Prober *probe.Prober
	Jobs   *job.Runner
	// SchemaJobs count the Jobs that worked on the schema of a database.
	SchemaJobs *job.Metrics
	// Certificates are the metrics of the certificates for databases; nil for none.
	Certificates *tls.Metrics
	// Cluster are the settings of the cluster.
	Cluster cluster.Settings
	// OperatorNamespace is where the health checks come from, "" when unknown.
	OperatorNamespace string
	// Clock is nil for time.Now.
	Clock func() time.Time
}

// Now is the time by the clock.
func (t *Tools) Now() time.Time {
	if t.Clock == nil {
		return time.Now()
	}
	return t.Clock()
}

// Pass is one pass over one resource.
type Pass struct {
	*Tools
	*Definition
	// Slots are what the steps of the pass hand on.
	*reconcile.Slots
	Resource Resource
	// Spec is what the resource asks for, with its defaults, and Status what is written
	// at the end of the pass.
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

// Key is the key of an object in the namespace of the resource.
func (p *Pass) Key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: p.Resource.GetNamespace(), Name: name}
}

// Named is the name of the object of the instance with a suffix, such as "db-sync".
func (p *Pass) Named(suffix string) string { return p.Resource.GetName() + "-" + suffix }

// Meta is the metadata of an object of the instance.
func (p *Pass) Meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: p.Resource.GetNamespace(), Labels: p.Labels(p.Resource.GetName()),
	}
}

// Image is the image of the wanted release.
func (p *Pass) Image() string { return p.Spec.Image.Repository + ":" + p.Spec.Image.Tag }

// Hide keeps the values out of what is quoted of tools that run in this pass.
func (p *Pass) Hide(values ...string) {
	p.hidden = append(p.hidden, slices.DeleteFunc(values, func(value string) bool { return value == "" })...)
}

// Hidden are the values that are not to be quoted.
func (p *Pass) Hidden() []string { return p.hidden }

// Runner runs Jobs and quotes none of the hidden values.
func (p *Pass) Runner() *job.Runner {
	runner := *p.Jobs
	runner.Hidden = p.hidden
	return &runner
}
