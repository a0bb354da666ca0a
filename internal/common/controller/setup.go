package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/crdwatch"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/watches"
)

// Setup registers the controller with the manager.
func (c Controller[R, T, S]) Setup(ctx context.Context, in *Shared, tools T) error {
	if err := c.Pipeline.Validate(); err != nil {
		return fmt.Errorf("the %s pipeline: %w", c.name(), err)
	}
	if err := reconcile.ExportResources(in.Manager, in.prefix, c.kind(), Maker(c.List), c.Gauges...); err != nil {
		return err
	}
	var background []Background
	if c.Background != nil {
		background = c.Background(tools)
	}
	for _, work := range background {
		if err := in.Manager.Add(work); err != nil {
			return fmt.Errorf("adding %T: %w", work, err)
		}
	}
	reconciler := c.reconciler(in, tools, background)
	if in.Options.Around != nil {
		reconciler = in.Options.Around(in.Manager, reconciler)
	}
	if err := c.watch(ctx, in, background, reconciler); err != nil {
		return fmt.Errorf("building the %s controller: %w", c.name(), err)
	}
	return nil
}

func (c Controller[R, T, S]) reconciler(in *Shared, tools T, background []Background) ctrlreconcile.Reconciler {
	r := &reconcile.Reconciler[R, S]{
		Client:   in.Client,
		Recorder: in.Manager.GetEventRecorder(c.name() + "-controller"),
		Metrics:  in.steps,
		New:      Maker(c.For),
		Guard:    c.Guard, Outdated: c.Outdated,
		Scope:    func(resource R) S { return c.Scope(tools, resource) },
		Pipeline: c.Pipeline, Finalizers: c.Finalizers,
		Summarise:   c.Summarise,
		Suspend:     func(ctx context.Context, resource R) error { return c.suspend(ctx, in.Access, resource) },
		Resume:      func(ctx context.Context, resource R) error { return c.resume(ctx, in.Access, resource) },
		Hibernation: c.hibernation(in.Access, tools),
		Forget: func(name types.NamespacedName) {
			for _, work := range background {
				work.Forget(name)
			}
			if c.Forget != nil {
				c.Forget(tools, name)
			}
		},
	}
	if c.Preflight != nil {
		r.Preflight = func(ctx context.Context, resource R) (reconcile.Refusal, error) {
			return c.Preflight(ctx, tools, resource)
		}
	}
	return r
}

// watch builds the controller. Everything that a pass reads is watched, so that waits end
// with an event instead of a timer.
func (c Controller[R, T, S]) watch(
	ctx context.Context, in *Shared, background []Background, reconciler ctrlreconcile.Reconciler,
) error {
	find := watches.Mapper[R]{Reader: in.Client, Plural: c.kind() + "s", NewList: Maker(c.List)}
	if err := find.Index(ctx, in.Manager.GetFieldIndexer(), c.For, c.Indexes); err != nil {
		return err
	}
	changes := watches.NewResync()
	b := ctrl.NewControllerManagedBy(in.Manager).Named(c.name()).For(c.For).
		WatchesRawSource(changes.Source(find.All)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: in.Config.MaxConcurrentReconciles,
			EnableWarmup:            ptr.To(true),
			RateLimiter:             watches.RateLimiter(),
		})
	if c.Secrets != nil {
		b.WatchesRawSource(in.references.SecretSource(c.Secrets(find)))
	}
	if c.ConfigMaps != nil {
		b.WatchesRawSource(in.references.ConfigMapSource(c.ConfigMaps(find)))
	}
	for _, work := range background {
		b.WatchesRawSource(work.Source())
	}
	var optional []crdwatch.Watch
	for _, kind := range c.Kinds {
		if !kind.reachable(in.Config.Namespace) {
			continue
		}
		only := []predicate.Predicate{}
		if kind.Only != nil {
			only = append(only, kind.Only)
		}
		for _, handle := range kind.handlers(in.Manager, find, c.For) {
			if kind.Optional {
				optional = append(optional, crdwatch.Watch{Object: kind.Object, Handler: handle, Predicates: only})
				continue
			}
			b.Watches(kind.Object, handle, builder.WithPredicates(only...))
		}
	}
	ctl, err := b.Build(reconciler)
	if err != nil || optional == nil {
		return err
	}
	return in.kinds.Bind(ctx, ctl, optional, changes.Send)
}
