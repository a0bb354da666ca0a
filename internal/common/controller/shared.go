package controller

import (
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/crdwatch"
	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/secrets"
)

// Options are overridden by tests; the operator runs with the zero value.
type Options struct {
	// Probe sends the health checks; nil means over HTTP.
	Probe probe.Doer
	// DiscoveryInterval is the interval between checks for optional kinds; zero means the
	// default.
	DiscoveryInterval time.Duration
	// Now is the clock of the passes; nil means time.Now.
	Now func() time.Time
	// Around wraps the reconciler; nil leaves it as it is.
	Around func(ctrl.Manager, ctrlreconcile.Reconciler) ctrlreconcile.Reconciler
}

// Shared is what the controllers of an operator share.
type Shared struct {
	Manager ctrl.Manager
	Config  startup.Config
	Options Options
	// Access is the part that passes use.
	kube.Access

	references *refs.Reader
	kinds      *crdwatch.Kinds
	prefix     string
	steps      *reconcile.Metrics
}

// NewShared registers with the manager what controllers share. The names of their metrics
// begin with prefix.
func NewShared(mgr ctrl.Manager, cfg startup.Config, options Options, prefix string) (*Shared, error) {
	references, err := refs.New(mgr, cfg.Namespace)
	if err != nil {
		return nil, err
	}
	kinds, err := crdwatch.New(mgr)
	if err != nil {
		return nil, err
	}
	kinds.SetInterval(options.DiscoveryInterval)
	if cfg.Namespace != "" {
		kinds.OnlyAsk()
	}
	steps, err := reconcile.NewMetrics(ctrlmetrics.Registry, prefix)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return &Shared{
		Manager: mgr, Config: cfg, Options: options,
		Access: kube.Access{
			Client: mgr.GetClient(), ThirdParty: kinds.Client(mgr.GetClient()), Kinds: kinds, APIReader: mgr.GetAPIReader(),
			Scheme: mgr.GetScheme(), Refs: references, Cluster: cfg.Cluster, Clock: options.Now,
			Owned: secrets.Owned{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Scheme: mgr.GetScheme()},
		},
		references: references, kinds: kinds, prefix: prefix, steps: steps,
	}, nil
}

// Optional returns a client for kinds that may not be installed. It wraps c.
func (s *Shared) Optional(c client.Client) client.Client { return s.kinds.Client(c) }
