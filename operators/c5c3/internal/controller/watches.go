package controller

import (
	"context"
	"fmt"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/optional"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/backing"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Field indexes from the name of an object to the ControlPlanes that read it.
const (
	indexSecret    = "spec.secretRefs.name"
	indexMariaDB   = "spec.infrastructure.database.clusterRef.name"
	indexMemcached = "spec.infrastructure.cache.clusterRef.name"
)

var indexes = map[string]func(*c5c3v1alpha1.ControlPlane) []string{
	indexSecret: func(cp *c5c3v1alpha1.ControlPlane) []string {
		return []string{
			databaseSecretRef(cp).Name, adminSecretRef(cp).Name, cp.PasswordCloudSecretName(), cp.ApplicationCredentialName(),
			cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName,
		}
	},
	indexMariaDB: func(cp *c5c3v1alpha1.ControlPlane) []string {
		if ref := cp.Spec.Infrastructure.Database.ClusterRef; ref != nil {
			return []string{ref.Name}
		}
		return nil
	},
	indexMemcached: func(cp *c5c3v1alpha1.ControlPlane) []string {
		if ref := cp.Spec.Infrastructure.Cache.ClusterRef; ref != nil {
			return []string{ref.Name}
		}
		return nil
	},
}

// watch builds the controller. Everything a pass reads is watched, so that
// waiting ends with the event and not with a timer.
func watch(
	ctx context.Context, mgr ctrl.Manager, cfg operator.Config, options Options, tools *toolbox, reconciler ctrlreconcile.Reconciler,
) error {
	for field, values := range indexes {
		if err := mgr.GetFieldIndexer().IndexField(ctx, &c5c3v1alpha1.ControlPlane{}, field, indexer(values)); err != nil {
			return fmt.Errorf("indexing ControlPlanes by %s: %w", field, err)
		}
	}
	find := finder{mgr.GetClient()}
	kinds := make(chan event.GenericEvent, 1)
	ctl, err := ctrl.NewControllerManagedBy(mgr).Named(controllerName).
		For(&c5c3v1alpha1.ControlPlane{}).
		// When the one that counts goes, the next one takes its place.
		Watches(&c5c3v1alpha1.ControlPlane{}, handler.EnqueueRequestsFromMapFunc(find.neighbours), builder.WithPredicates(deletions)).
		WatchesRawSource(tools.refs.SecretSource(find.by(indexSecret))).
		WatchesRawSource(source.Channel(kinds, handler.EnqueueRequestsFromMapFunc(find.all))).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cfg.MaxConcurrentReconciles,
			EnableWarmup:            ptr.To(true),
			RateLimiter:             rateLimiter(),
		}).
		Build(reconciler)
	if err != nil {
		return fmt.Errorf("building the control plane controller: %w", err)
	}
	return trackKinds(ctx, mgr, cfg, options, tools, ctl, kinds)
}

var deletions = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	UpdateFunc:  func(event.UpdateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

// rateLimiter retries a failing ControlPlane at once at first and never less
// often than every 30 s, and bounds how many retries all of them cause together.
func rateLimiter() workqueue.TypedRateLimiter[ctrlreconcile.Request] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[ctrlreconcile.Request](5*time.Millisecond, 30*time.Second),
		&workqueue.TypedBucketRateLimiter[ctrlreconcile.Request]{Limiter: rate.NewLimiter(rate.Limit(10), 100)},
	)
}

// trackKinds starts watching the kinds of other operators that are, or will be,
// installed.
func trackKinds(
	ctx context.Context, mgr ctrl.Manager, cfg operator.Config, options Options, tools *toolbox,
	ctl controller.Controller, changes chan event.GenericEvent,
) error {
	find := finder{mgr.GetClient()}
	owned := find.owner(mgr)
	watches := []optional.Watch{
		{Object: &backing.MariaDB{}, Handler: handler.EnqueueRequestsFromMapFunc(find.by(indexMariaDB))},
		{Object: &backing.Memcached{}, Handler: handler.EnqueueRequestsFromMapFunc(find.by(indexMemcached))},
		{Object: &esov1.ExternalSecret{}, Handler: owned},
		{Object: &esov1alpha1.PushSecret{}, Handler: owned},
		{Object: &orcv1alpha1.ApplicationCredential{}, Handler: owned},
		{Object: &orcv1alpha1.Domain{}, Handler: owned},
		{Object: &orcv1alpha1.User{}, Handler: owned},
		{Object: &orcv1alpha1.Service{}, Handler: owned},
		{Object: &orcv1alpha1.Endpoint{}, Handler: owned},
		{Object: &orcv1alpha1.Project{}, Handler: owned},
		{Object: &orcv1alpha1.Role{}, Handler: owned},
		{Object: &keystonev1alpha1.Keystone{}, Handler: owned},
	}
	if cfg.Namespace == "" {
		// A namespaced Role does not reach cluster-scoped kinds.
		watches = append(watches, optional.Watch{Object: &esov1.ClusterSecretStore{}, Handler: handler.EnqueueRequestsFromMapFunc(find.all)})
	}
	kinds, err := optional.New(mgr, watches, func() {
		// One pending announcement is enough: it reaches every ControlPlane.
		select {
		case changes <- event.GenericEvent{Object: &c5c3v1alpha1.ControlPlane{}}:
		default:
		}
	})
	if err != nil {
		return err
	}
	if options.DiscoveryInterval > 0 {
		kinds.SetInterval(options.DiscoveryInterval)
	}
	tools.kinds = kinds
	return kinds.Bind(ctx, mgr, ctl)
}

// indexer looks at ControlPlanes as a pass does, with their defaults.
func indexer(values func(*c5c3v1alpha1.ControlPlane) []string) client.IndexerFunc {
	return func(obj client.Object) []string {
		cp, ok := obj.(*c5c3v1alpha1.ControlPlane)
		if !ok {
			return nil
		}
		cp = cp.DeepCopy()
		c5c3v1alpha1.SetDefaults(cp)
		return values(cp)
	}
}

// finder maps events to the ControlPlanes they concern.
type finder struct{ client client.Client }

// owner finds the ControlPlane that controls the event's object. An object that
// goes may have held a name that a ControlPlane of its namespace waits for.
func (f finder) owner(mgr ctrl.Manager) handler.EventHandler {
	owner := handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &c5c3v1alpha1.ControlPlane{}, handler.OnlyControllerOwner())
	return handler.Funcs{
		CreateFunc: owner.Create, UpdateFunc: owner.Update, GenericFunc: owner.Generic,
		DeleteFunc: handler.EnqueueRequestsFromMapFunc(f.neighbours).Delete,
	}
}

// by finds the ControlPlanes of the event's namespace that read its object.
func (f finder) by(field string) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
		return f.list(ctx, client.InNamespace(obj.GetNamespace()), client.MatchingFields{field: obj.GetName()})
	}
}

// neighbours finds the ControlPlanes of the event's namespace.
func (f finder) neighbours(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	return f.list(ctx, client.InNamespace(obj.GetNamespace()))
}

// all finds every ControlPlane.
func (f finder) all(ctx context.Context, _ client.Object) []ctrlreconcile.Request {
	return f.list(ctx)
}

func (f finder) list(ctx context.Context, options ...client.ListOption) []ctrlreconcile.Request {
	var list c5c3v1alpha1.ControlPlaneList
	if err := f.client.List(ctx, &list, options...); err != nil {
		log.FromContext(ctx).Error(err, "Listing the ControlPlanes that an event concerns failed")
		return nil
	}
	requests := make([]ctrlreconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}
