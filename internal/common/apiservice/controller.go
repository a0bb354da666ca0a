// Package apiservice declares the controller of an API service. It adds to what a service
// declares what every service has: the kinds that its controller watches, the tools of its
// passes, the metrics, and, for a service with a database, that this belongs to one resource.
package apiservice

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Controller declares the controller of a service with resources of type R, and tools of
// type T in the scope of its passes.
type Controller[R service.Resource, T any] struct {
	// Definition describes the service.
	Definition *service.Definition
	// For, List and AddToScheme are those of [controller.Controller], and so are Guard,
	// Outdated, Pipeline and Finalizers.
	For         R
	List        client.ObjectList
	AddToScheme func(*runtime.Scheme) error
	Guard       func(R) error
	Outdated    func(R) string
	Pipeline    reconcile.Pipeline[*service.Scope[R, T]]
	Finalizers  []reconcile.Finalizer[*service.Scope[R, T]]

	// Own returns the tools that only this operator has. It may be nil.
	Own func(*controller.Shared) (T, error)
	// SecretRefs returns the names of the Secrets that a pass reads in addition to those
	// in [commonv1.ServiceSpec] and [commonv1.ServiceUser]. It may be nil.
	SecretRefs func(R) []string
	// Kinds are the kinds that this controller watches in addition to the common ones.
	Kinds []controller.Kind
	// Attached are the controllers of resources that belong to the service.
	Attached []Attached
	// Background returns what works on resources outside of their passes, in addition to what
	// probes the API and what takes turns with changes of Deployments. It may be nil.
	Background func(T) []controller.Background
	// Forget drops other in-memory state about a deleted resource. It may be nil.
	Forget func(T, types.NamespacedName)

	// Metrics name the metrics that all services have.
	Metrics metric.Names
}

// Attached is the controller of resources that belong to a service, such as one of package
// attachment.
type Attached interface {
	controller.Declaration
	// Watch is the entry for the controller of the service.
	Watch() controller.Kind
	// Outline describes the controller for the documentation.
	Outline() reconcile.Outline
	// SetupShared registers the controller with the manager of the service's controller.
	SetupShared(context.Context, *controller.Shared) error
}

// Scheme registers every type that the controllers read or write.
func (c Controller[R, T]) Scheme() *runtime.Scheme { return controller.Scheme(c.declarations()...) }

// Trim returns the cache transform that drops fields no pass reads.
func (c Controller[R, T]) Trim() cache.TransformFunc {
	return controller.CacheTransform(c.declarations()...)
}

// Watched returns every watched kind, for RBAC checks.
func (c Controller[R, T]) Watched() []controller.Watched {
	var watched []controller.Watched
	for _, declared := range c.declarations() {
		watched = append(watched, declared.Watched()...)
	}
	return watched
}

// Outlines describes the controllers for the documentation.
func (c Controller[R, T]) Outlines() []reconcile.Outline {
	outlines := append(make([]reconcile.Outline, 0, 1+len(c.Attached)), c.declaration(cluster.Settings{}).Outline())
	for _, attached := range c.Attached {
		outlines = append(outlines, attached.Outline())
	}
	return outlines
}

// declarations returns the controllers of the service and of what is attached to it.
func (c Controller[R, T]) declarations() []controller.Declaration {
	declared := append(make([]controller.Declaration, 0, 1+len(c.Attached)), c.declaration(cluster.Settings{}))
	for _, attached := range c.Attached {
		declared = append(declared, attached)
	}
	return declared
}

// Setup registers the controllers with the manager.
func (c Controller[R, T]) Setup(ctx context.Context, mgr ctrl.Manager, cfg startup.Config) error {
	return c.SetupWith(ctx, mgr, cfg, controller.Options{})
}

// SetupWith is Setup with overridable parts.
func (c Controller[R, T]) SetupWith(ctx context.Context, mgr ctrl.Manager, cfg startup.Config, options controller.Options) error {
	shared, err := controller.NewShared(mgr, cfg, options, c.Metrics.Prefix)
	if err != nil {
		return err
	}
	made, err := c.tools(shared)
	if err != nil {
		return err
	}
	for _, attached := range c.Attached {
		if err := attached.SetupShared(ctx, shared); err != nil {
			return err
		}
	}
	return c.declaration(cfg.Cluster).Setup(ctx, shared, made)
}

// declaration completes the declaration with what every service has.
func (c Controller[R, T]) declaration(in cluster.Settings) controller.Controller[R, *tools[T], *service.Scope[R, T]] {
	declared := controller.Controller[R, *tools[T], *service.Scope[R, T]]{
		For: c.For, List: c.List, AddToScheme: c.AddToScheme,
		Kinds:        slices.Concat(common(), c.Kinds),
		FieldManager: apply.FieldManager,
		Indexes:      map[string]func(R) []string{indexSecret: c.secretRefs, indexConfigMap: configMapRefs[R]},
		Secrets:      controller.By(indexSecret), ConfigMaps: controller.By(indexConfigMap),
		Trim:  trim,
		Guard: c.Guard, Outdated: c.Outdated,
		Scope: func(t *tools[T], resource R) *service.Scope[R, T] {
			return service.NewScope(t.Tools, c.Definition, resource, t.own)
		},
		Pipeline: c.Pipeline, Finalizers: c.Finalizers, Hibernation: c.hibernation(),
		Background: c.background, Forget: c.forget,
		Gauges: []reconcile.Gauge[R]{releases[R](c.Metrics)},
	}
	for _, attached := range c.Attached {
		declared.Kinds = append(declared.Kinds, attached.Watch())
	}
	if c.hasData() {
		c.withDatabase(&declared, in)
	}
	return declared
}

// hasData reports whether the service has a database.
func (c Controller[R, T]) hasData() bool { return commonv1.DataOf(c.For) != nil }

// withDatabase adds what the controller of a service with a database has.
func (c Controller[R, T]) withDatabase(declared *controller.Controller[R, *tools[T], *service.Scope[R, T]], in cluster.Settings) {
	declared.Kinds = slices.Concat(declared.Kinds, databases(sharers[R](in)), rivals(c.For, c.Definition.Kind, in))
	declared.Indexes[indexMariaDB] = mariaDBs[R]
	declared.Indexes[service.IndexDatabase] = databaseKeys[R](in)
	declared.Preflight = func(ctx context.Context, t *tools[T], resource R) (reconcile.Refusal, error) {
		return refuseSharer(ctx, service.NewPass(t.Tools, c.Definition, resource))
	}
}
