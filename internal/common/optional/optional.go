// Package optional tracks kinds of other projects that may or may not be
// installed in the cluster.
//
// An operator must neither crash nor need a restart because the CRDs of, say,
// mariadb-operator appear or disappear. Kinds asks the discovery API what is
// served, starts the watches of a kind when it appears, stops its informer when
// it goes, and asks for a new pass over every resource on each change. The
// discovery API is used rather than a watch on CustomResourceDefinitions
// because every authenticated client may read it, also where the operator holds
// nothing but a namespaced Role.
package optional

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// DefaultInterval is how often the discovery API is asked. It bounds how long
// a newly installed kind goes unnoticed.
const DefaultInterval = 10 * time.Second

// Watch is one optional kind and what to do with its events.
type Watch struct {
	// Object names the kind; it must be registered in the manager's scheme.
	Object client.Object
	// Handler maps events of the kind to requests.
	Handler handler.EventHandler
	// Predicates filter events of the kind.
	Predicates []predicate.Predicate

	gvk schema.GroupVersionKind
}

// Kinds knows which optional kinds are served. It is safe for concurrent use.
type Kinds struct {
	discovery  *discovery.DiscoveryClient
	cache      cache.Cache
	controller controller.Controller
	watches    []Watch
	changed    func()
	interval   time.Duration

	mu     sync.RWMutex
	served map[schema.GroupVersionKind]bool
}

// New returns the tracker and looks once, so that the first pass already
// knows. changed is called whenever a kind appeared or disappeared; it must not
// block.
func New(mgr ctrl.Manager, watches []Watch, changed func()) (*Kinds, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("creating the discovery client: %w", err)
	}
	kinds := &Kinds{
		discovery: client, cache: mgr.GetCache(), changed: changed,
		interval: DefaultInterval, served: map[schema.GroupVersionKind]bool{},
	}
	for _, watch := range watches {
		if watch.gvk, err = apiutil.GVKForObject(watch.Object, mgr.GetScheme()); err != nil {
			return nil, fmt.Errorf("finding the kind of %T: %w", watch.Object, err)
		}
		kinds.watches = append(kinds.watches, watch)
	}
	return kinds, nil
}

// SetInterval changes how often the discovery API is asked; tests shorten it.
func (k *Kinds) SetInterval(interval time.Duration) { k.interval = interval }

// Bind starts tracking for the given controller, as a runnable of mgr.
func (k *Kinds) Bind(ctx context.Context, mgr ctrl.Manager, ctl controller.Controller) error {
	k.controller = ctl
	if err := k.refresh(ctx); err != nil {
		return fmt.Errorf("asking which kinds the cluster serves: %w", err)
	}
	return mgr.Add(k)
}

// Served reports whether the kind of obj is installed now.
func (k *Kinds) Served(gvk schema.GroupVersionKind) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.served[gvk]
}

// Start asks the discovery API until ctx ends.
func (k *Kinds) Start(ctx context.Context) error {
	ticker := time.NewTicker(k.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := k.refresh(ctx); err != nil {
				log.FromContext(ctx).Error(err, "Asking which kinds the cluster serves failed; trying again", "interval", k.interval)
			}
		}
	}
}

// NeedLeaderElection is false so that a standby replica has warm caches of
// the optional kinds too.
func (k *Kinds) NeedLeaderElection() bool { return false }

func (k *Kinds) refresh(ctx context.Context) error {
	found, err := k.discover(ctx)
	if err != nil {
		return err
	}
	changed := false
	for _, watch := range k.watches {
		switch was, is := k.Served(watch.gvk), found[watch.gvk]; {
		case is && !was:
			if err := k.controller.Watch(source.Kind(k.cache, watch.Object, watch.Handler, watch.Predicates...)); err != nil {
				return fmt.Errorf("watching %s: %w", watch.gvk.Kind, err)
			}
			log.FromContext(ctx).Info("A kind became available", "kind", watch.gvk.Kind, "group", watch.gvk.Group)
		case was && !is:
			if err := k.cache.RemoveInformer(ctx, watch.Object); err != nil {
				return fmt.Errorf("stopping the informer of %s: %w", watch.gvk.Kind, err)
			}
			log.FromContext(ctx).Info("A kind is no longer served", "kind", watch.gvk.Kind, "group", watch.gvk.Group)
		default:
			continue
		}
		k.set(watch.gvk, found[watch.gvk])
		changed = true
	}
	if changed && k.changed != nil {
		k.changed()
	}
	return nil
}

// discover asks for each group version on its own: a handful of small answers
// instead of everything the cluster serves. A group whose API server answers
// with an error has not gone away and keeps its last known state.
func (k *Kinds) discover(ctx context.Context) (map[schema.GroupVersionKind]bool, error) {
	lists := map[schema.GroupVersion]*metav1.APIResourceList{}
	found := map[schema.GroupVersionKind]bool{}
	for _, watch := range k.watches {
		version := watch.gvk.GroupVersion()
		list, asked := lists[version]
		if !asked {
			var err error
			list, err = k.discovery.ServerResourcesForGroupVersionWithContext(ctx, version.String())
			switch {
			case apierrors.IsNotFound(err):
				list = &metav1.APIResourceList{}
			case apierrors.IsServiceUnavailable(err):
				list = nil
			case err != nil:
				return nil, fmt.Errorf("group version %s: %w", version, err)
			}
			lists[version] = list
		}
		found[watch.gvk] = hasKind(list, watch.gvk.Kind)
		if list == nil {
			found[watch.gvk] = k.Served(watch.gvk)
		}
	}
	return found, nil
}

func (k *Kinds) set(gvk schema.GroupVersionKind, served bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.served[gvk] = served
}

func hasKind(list *metav1.APIResourceList, kind string) bool {
	return list != nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind })
}
