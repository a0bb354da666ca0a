package controller

import (
	"context"
	"fmt"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/crdwatch"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/watches"
)

// watching maps the events of a manager to passes of a controller.
type watching[R service.Resource, T any] struct {
	Controller[R, T]
	mgr    ctrl.Manager
	config startup.Config
	find   watches.Mapper[R]
	// changes triggers passes when kinds are installed or removed.
	changes watches.Resync
	kinds   *crdwatch.Kinds
}

func (c Controller[R, T]) watching(mgr ctrl.Manager, cfg startup.Config, options Options) (*watching[R, T], error) {
	w := &watching[R, T]{
		Controller: c, mgr: mgr, config: cfg, changes: watches.NewResync(),
		find: watches.Mapper[R]{Reader: mgr.GetClient(), Plural: c.Definition.Kind + "s", NewList: c.NewList},
	}
	var optional []crdwatch.Watch
	for _, kind := range w.reachable() {
		if kind.Optional {
			optional = append(optional, crdwatch.Watch{Object: kind.Object, Handler: w.handler(kind), Predicates: kind.Predicates})
		}
	}
	var err error
	if w.kinds, err = crdwatch.New(mgr, optional, w.changes.Send); err != nil {
		return nil, err
	}
	w.kinds.SetInterval(options.DiscoveryInterval)
	if cfg.Namespace != "" {
		w.kinds.OnlyAsk()
	}
	return w, nil
}

// reachable returns the kinds that the operator may read: a namespaced Role does not
// grant cluster-scoped ones.
func (w *watching[R, T]) reachable() []Kind[R] {
	var reachable []Kind[R]
	for _, kind := range w.Controller.kinds() {
		if w.config.Namespace == "" || !kind.ClusterScoped {
			reachable = append(reachable, kind)
		}
	}
	return reachable
}

// handler returns the event handler for the kind's relation.
func (w *watching[R, T]) handler(kind Kind[R]) handler.EventHandler {
	switch kind.Relation {
	case Labelled:
		return handler.EnqueueRequestsFromMapFunc(byInstance)
	case Referenced:
		return handler.EnqueueRequestsFromMapFunc(w.find.By(kind.Index))
	case Every:
		return handler.EnqueueRequestsFromMapFunc(w.find.All)
	case Sharer:
		return handler.EnqueueRequestsFromMapFunc(w.find.Sharing(service.IndexDatabase, claimed[R](w.config.Cluster)))
	}
	owner := handler.EnqueueRequestForOwner(w.mgr.GetScheme(), w.mgr.GetRESTMapper(), w.New(), handler.OnlyControllerOwner())
	if kind.Released {
		return released{owner, handler.EnqueueRequestsFromMapFunc(w.find.Sharing(service.IndexDatabase, claimed[R](w.config.Cluster)))}
	}
	if kind.Orphaned != nil {
		return orphaned{owner, handler.EnqueueRequestsFromMapFunc(byInstance), kind.Orphaned}
	}
	return owner
}

// orphaned also handles events of the objects without this controller by their label.
type orphaned struct {
	handler.EventHandler
	labelled handler.EventHandler
	is       func(client.Object) bool
}

// Create implements [handler.EventHandler].
func (o orphaned) Create(
	ctx context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[ctrlreconcile.Request],
) {
	o.EventHandler.Create(ctx, e, queue)
	if o.is(e.Object) {
		o.labelled.Create(ctx, e, queue)
	}
}

// Update implements [handler.EventHandler].
func (o orphaned) Update(
	ctx context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[ctrlreconcile.Request],
) {
	o.EventHandler.Update(ctx, e, queue)
	if o.is(e.ObjectNew) {
		o.labelled.Update(ctx, e, queue)
	}
}

// Delete implements [handler.EventHandler].
func (o orphaned) Delete(
	ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[ctrlreconcile.Request],
) {
	o.EventHandler.Delete(ctx, e, queue)
	if o.is(e.Object) {
		o.labelled.Delete(ctx, e, queue)
	}
}

// released also handles the end of an object with a second handler.
type released struct {
	handler.EventHandler
	end handler.EventHandler
}

// Delete implements [handler.EventHandler].
func (r released) Delete(
	ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[ctrlreconcile.Request],
) {
	r.EventHandler.Delete(ctx, e, queue)
	r.end.Delete(ctx, e, queue)
}

func (w *watching[R, T]) indexes() map[string]func(R) []string {
	indexes := map[string]func(R) []string{
		IndexSecret:           w.secretRefs,
		IndexConfigMap:        configMapRefs[R],
		service.IndexDatabase: databaseKeys[R](w.config.Cluster),
	}
	for _, kind := range w.reachable() {
		if kind.Names != nil {
			indexes[kind.Index] = kind.Names
		}
	}
	return indexes
}

// build builds the controller. Everything that a pass reads is watched, so that waits end
// with an event instead of a timer.
func (w *watching[R, T]) build(
	ctx context.Context, tools *service.Tools, references *refs.Reader, reconciler ctrlreconcile.Reconciler,
) error {
	if err := w.find.Index(ctx, w.mgr.GetFieldIndexer(), w.New(), w.indexes()); err != nil {
		return err
	}
	b := ctrl.NewControllerManagedBy(w.mgr).Named(w.Definition.Name).For(w.New()).
		WatchesRawSource(references.SecretSource(w.find.By(IndexSecret))).
		WatchesRawSource(references.ConfigMapSource(w.find.By(IndexConfigMap))).
		WatchesRawSource(tools.Prober.Source()).
		WatchesRawSource(tools.Turns.Source()).
		WatchesRawSource(w.changes.Source(w.find.All)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: w.config.MaxConcurrentReconciles,
			EnableWarmup:            ptr.To(true),
			RateLimiter:             watches.RateLimiter(),
		})
	watchSharers(b, w.find, w.New(), w.config.Cluster)
	for _, kind := range w.reachable() {
		if kind.Optional {
			continue
		}
		b.Watches(kind.Object, w.handler(kind), builder.WithPredicates(kind.Predicates...))
	}
	for _, own := range w.Sources {
		b.WatchesRawSource(own)
	}
	ctl, err := b.Build(reconciler)
	if err != nil {
		return fmt.Errorf("building the %s controller: %w", w.Definition.Name, err)
	}
	return w.kinds.Bind(ctx, w.mgr, ctl)
}

// byInstance maps an object to the resource that its labels name.
func byInstance(_ context.Context, obj client.Object) []ctrlreconcile.Request {
	name := obj.GetLabels()[service.LabelInstance]
	if name == "" {
		return nil
	}
	return []ctrlreconcile.Request{{NamespacedName: client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}}}
}
