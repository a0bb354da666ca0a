// Package controller builds the controller of an API service from its declaration.
package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/tls"
)

// Controller declares the controller of a service. T is a pointer to the Go type of the
// service's kind.
type Controller[T service.Resource] struct {
	// Definition describes the service.
	Definition *service.Definition
	// Metrics are the metrics of the operator.
	Metrics Metrics
	// New and NewList return an empty resource and an empty list of them.
	New     func() T
	NewList func() client.ObjectList
	// Guard repeats what the webhooks do, for installations without them.
	Guard func(T) error
	// Secrets are the names of the Secrets that a resource refers to, beside those that
	// every service has.
	Secrets func(T) []string
	// Pipeline is what one pass does, in order, and Finalizers are the stages of deletion.
	Pipeline   reconcile.Pipeline[*service.Pass]
	Finalizers []reconcile.Finalizer[*service.Pass]
}

// Options are what tests replace; the zero value is what the operator runs with.
type Options struct {
	// Probe sends the health checks; nil means HTTP.
	Probe probe.Doer
	// DiscoveryInterval is how often optional kinds are looked for; zero means the default.
	DiscoveryInterval time.Duration
	// Around may stand between the controller and its passes; nil means that nothing does.
	Around func(ctrl.Manager, ctrlreconcile.Reconciler) ctrlreconcile.Reconciler
}

// Scheme knows every type that the controller of a service reads or writes, and those that
// are added.
func Scheme(add ...func(*runtime.Scheme) error) *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range append(add, clientgoscheme.AddToScheme, mariadbv1alpha1.AddToScheme,
		esov1.AddToScheme, esov1alpha1.AddToScheme, certmanagerv1.AddToScheme, gatewayv1.Install) {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

// Setup registers the controller with the manager.
func (c Controller[T]) Setup(ctx context.Context, mgr ctrl.Manager, cfg operator.Config) error {
	return c.SetupWith(ctx, mgr, cfg, Options{})
}

// SetupWith is Setup with replaceable parts.
func (c Controller[T]) SetupWith(ctx context.Context, mgr ctrl.Manager, cfg operator.Config, options Options) error {
	if err := c.Pipeline.Validate(); err != nil {
		return fmt.Errorf("the %s pipeline: %w", c.Definition.Name, err)
	}
	references, err := refs.New(mgr, cfg.Namespace)
	if err != nil {
		return err
	}
	tools, err := c.tools(mgr, cfg, options)
	if err != nil {
		return err
	}
	tools.Refs = references
	stepMetrics, err := reconcile.NewMetrics(ctrlmetrics.Registry, c.Metrics.Prefix)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	if err := reconcile.ExportResources(mgr, c.Metrics.Prefix, c.Definition.Kind, c.NewList, releases[T](c.Metrics)); err != nil {
		return err
	}
	var reconciler ctrlreconcile.Reconciler = &reconcile.Reconciler[T, *service.Pass]{
		Client:     mgr.GetClient(),
		Recorder:   mgr.GetEventRecorder(c.Definition.Name + "-controller"),
		Metrics:    stepMetrics,
		New:        c.New,
		Guard:      c.Guard,
		Preflight:  c.refuseSharers(mgr.GetClient(), cfg.Cluster),
		Scope:      func(resource T) *service.Pass { return service.NewPass(tools, c.Definition, resource) },
		Pipeline:   c.Pipeline,
		Finalizers: c.Finalizers,
		Forget: func(name types.NamespacedName) {
			tools.Prober.Forget(name)
			tools.SchemaJobs.Forget(name)
			tools.Certificates.Forget(name)
		},
	}
	if options.Around != nil {
		reconciler = options.Around(mgr, reconciler)
	}
	return c.watch(ctx, mgr, cfg, options, tools, references, reconciler)
}

func (c Controller[T]) tools(mgr ctrl.Manager, cfg operator.Config, options Options) (*service.Tools, error) {
	certificates, err := tls.NewMetrics(ctrlmetrics.Registry, c.Metrics.certificateStart(), c.Metrics.certificateExpiration())
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	counted, err := job.NewMetrics(ctrlmetrics.Registry, c.Metrics.schemaJobs(), c.Metrics.schemaJobDuration())
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	tools := &service.Tools{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Scheme: mgr.GetScheme(),
		Owned:      secrets.Owned{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Scheme: mgr.GetScheme()},
		Prober:     probe.New(options.Probe),
		Jobs:       &job.Runner{Client: mgr.GetClient(), Events: mgr.GetAPIReader(), Scheme: mgr.GetScheme(), Exits: job.NewExits()},
		SchemaJobs: counted, Certificates: certificates,
		Cluster: cfg.Cluster, OperatorNamespace: cfg.OperatorNamespace,
	}
	if err := mgr.Add(tools.Prober); err != nil {
		return nil, fmt.Errorf("adding the health prober: %w", err)
	}
	return tools, nil
}

// plural names the kind in messages.
func (c Controller[T]) plural() string { return strings.TrimSuffix(c.Definition.Kind, "s") + "s" }
