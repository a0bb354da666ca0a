package controller

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/crdwatch"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/rollout"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/tls"
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

// Setup registers the controller with the manager.
func (c Controller[R, T]) Setup(ctx context.Context, mgr ctrl.Manager, cfg startup.Config) error {
	return c.SetupWith(ctx, mgr, cfg, Options{})
}

// SetupWith is Setup with overridable parts.
func (c Controller[R, T]) SetupWith(ctx context.Context, mgr ctrl.Manager, cfg startup.Config, options Options) error {
	if err := c.Pipeline.Validate(); err != nil {
		return fmt.Errorf("the %s pipeline: %w", c.Definition.Name, err)
	}
	w, err := c.watching(mgr, cfg, options)
	if err != nil {
		return err
	}
	stepMetrics, err := reconcile.NewMetrics(ctrlmetrics.Registry, c.Metrics.Prefix)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	if err := reconcile.ExportResources(mgr, c.Metrics.Prefix, c.Definition.Kind, c.NewList, releases[R](c.Metrics)); err != nil {
		return err
	}
	tools, references, err := c.tools(mgr, cfg, options, w.kinds)
	if err != nil {
		return err
	}
	var reconciler ctrlreconcile.Reconciler = &reconcile.Reconciler[R, *service.Scope[R, T]]{
		Client:    mgr.GetClient(),
		Recorder:  mgr.GetEventRecorder(c.Definition.Name + "-controller"),
		Metrics:   stepMetrics,
		New:       c.New,
		Guard:     c.Guard,
		Outdated:  c.Outdated,
		Preflight: c.preflight(tools),
		Scope: func(resource R) *service.Scope[R, T] {
			return service.NewScope(tools, c.Definition, resource, c.Own)
		},
		Recomputed: recomputed[R],
		Pipeline:   c.Pipeline,
		Finalizers: c.Finalizers,
		Forget:     c.forget(tools),
	}
	if options.Around != nil {
		reconciler = options.Around(mgr, reconciler)
	}
	return w.build(ctx, tools, references, reconciler)
}

// tools returns the dependencies of the steps and the reader of referenced objects. It
// registers their background runnables with the manager.
func (c Controller[R, T]) tools(
	mgr ctrl.Manager, cfg startup.Config, options Options, kinds *crdwatch.Kinds,
) (*service.Tools, *refs.Reader, error) {
	references, err := refs.New(mgr, cfg.Namespace)
	if err != nil {
		return nil, nil, err
	}
	certificates, err := tls.NewMetrics(ctrlmetrics.Registry, c.Metrics.CertificateStart(), c.Metrics.CertificateExpiration())
	if err != nil {
		return nil, nil, fmt.Errorf("registering metrics: %w", err)
	}
	schemaJobs, err := job.NewMetrics(ctrlmetrics.Registry, c.Metrics.SchemaJobs(), c.Metrics.SchemaJobDuration())
	if err != nil {
		return nil, nil, fmt.Errorf("registering metrics: %w", err)
	}
	tools := &service.Tools{
		Client: mgr.GetClient(), ThirdParty: kinds.Client(mgr.GetClient()), APIReader: mgr.GetAPIReader(),
		Scheme: mgr.GetScheme(), NewList: c.NewList, Refs: references,
		Peers:      kinds.Client(cachedLists{mgr.GetClient(), mgr.GetCache()}),
		Owned:      secrets.Owned{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Scheme: mgr.GetScheme()},
		Kinds:      kinds,
		Prober:     probe.New(options.Probe),
		Turns:      rollout.NewTurns(options.Now),
		Jobs:       &job.Runner{Client: mgr.GetClient(), Events: mgr.GetAPIReader(), Scheme: mgr.GetScheme(), Exits: job.NewExits()},
		SchemaJobs: schemaJobs, Certificates: certificates,
		Cluster: cfg.Cluster, OperatorNamespace: cfg.OperatorNamespace, Clock: options.Now,
		AllowUnsupportedUpgrades: cfg.AllowUnsupportedUpgrades,
	}
	for _, runnable := range append([]manager.Runnable{tools.Prober, tools.Turns}, c.Runnables...) {
		if err := mgr.Add(runnable); err != nil {
			return nil, nil, fmt.Errorf("adding %T: %w", runnable, err)
		}
	}
	return tools, references, nil
}

// cachedLists lists from the cache what the client would ask the API server for: objects
// without a Go type.
type cachedLists struct {
	client.Client
	cache client.Reader
}

// List implements [client.Reader].
func (c cachedLists) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return c.cache.List(ctx, list, options...)
}

// forget drops in-memory state about a deleted resource.
func (c Controller[R, T]) forget(tools *service.Tools) func(types.NamespacedName) {
	return func(name types.NamespacedName) {
		tools.Prober.Forget(name)
		tools.Turns.Forget(name)
		tools.SchemaJobs.Forget(name)
		tools.Certificates.Forget(name)
		if c.Forget != nil {
			c.Forget(name)
		}
	}
}
