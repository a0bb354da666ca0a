// Package crdwatch tracks kinds of other projects that may or may not be
// installed in the cluster.
//
// An operator must neither crash nor need a restart because the CRDs of, say,
// mariadb-operator appear or disappear. Kinds starts the watches of a kind when it
// appears, stops its informer when it disappears, and requests a new pass over every
// resource on each change. The discovery API reports what is served: every
// authenticated client may read it, even if the operator has only a
// namespaced Role. It is queried when a CustomResourceDefinition has changed, or
// periodically where those cannot be watched.
package crdwatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

// DefaultInterval is the polling interval of the discovery API for an operator that may
// not watch CustomResourceDefinitions. It bounds how long a newly installed kind
// goes unnoticed in that case.
const DefaultInterval = time.Minute

// answerTimeout bounds one request to the discovery API. The manager's HTTP
// client has no timeout, and Bind queries the API before anything else runs.
const answerTimeout = 5 * time.Second

// Watch is one optional kind and the handling of its events.
type Watch struct {
	// Object names the kind; it must be registered in the manager's scheme.
	Object client.Object
	// Handler maps events of the kind to requests.
	Handler handler.EventHandler
	// Predicates filter events of the kind.
	Predicates []predicate.Predicate

	gvk schema.GroupVersionKind
	// running reports whether the watch has been started.
	running bool
}

// follower is a controller that watches optional kinds.
type follower struct {
	controller.Controller
	watches []Watch
	changed func()
}

// Kinds knows which optional kinds are served. It is safe for concurrent use.
type Kinds struct {
	discovery *discovery.DiscoveryClient
	cache     cache.Cache
	scheme    *runtime.Scheme
	followers []follower
	interval  time.Duration
	onlyAsk   bool
	// definitions announces changes of the kinds of groups.
	definitions *definitions
	groups      map[string]bool
	// unanswered is true if the last query was not fully answered.
	unanswered bool

	mu     sync.RWMutex
	served map[schema.GroupVersionKind]bool
	// readers are the cancel functions of the reads in progress, by kind.
	readers map[schema.GroupVersionKind]map[*context.CancelCauseFunc]struct{}
}

// New returns a tracker that knows no kind before Bind, and adds it to mgr, which has it
// query the API.
func New(mgr ctrl.Manager) (*Kinds, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("creating the discovery client: %w", err)
	}
	kinds := &Kinds{
		discovery: client, cache: mgr.GetCache(), scheme: mgr.GetScheme(),
		interval: DefaultInterval, groups: map[string]bool{}, served: map[schema.GroupVersionKind]bool{},
		readers: map[schema.GroupVersionKind]map[*context.CancelCauseFunc]struct{}{},
	}
	if kinds.definitions, err = newDefinitions(mgr, kinds.groups); err != nil {
		return nil, err
	}
	return kinds, mgr.Add(kinds)
}

// OnlyAsk is for an operator with permissions in a single namespace: the tracker does
// not try to watch CustomResourceDefinitions.
func (k *Kinds) OnlyAsk() { k.onlyAsk = true }

// SetInterval changes the polling interval of the discovery API; tests shorten it.
// Zero means DefaultInterval.
func (k *Kinds) SetInterval(interval time.Duration) { k.interval = cmp.Or(interval, DefaultInterval) }

// Bind has the controller watch kinds from when they appear, and queries the API once, so that
// its first pass already knows them. changed is called whenever one of the kinds has appeared
// or disappeared; it must not block. Bind must be called before the manager starts. It is an
// error if the manager's scheme lacks one of the kinds. A group version without a usable answer
// counts as not served until it gives one: an operator must be able to start while the API
// server of another project is down.
func (k *Kinds) Bind(ctx context.Context, ctl controller.Controller, watches []Watch, changed func()) error {
	for i := range watches {
		gvk, err := apiutil.GVKForObject(watches[i].Object, k.scheme)
		if err != nil {
			return fmt.Errorf("finding the kind of %T: %w", watches[i].Object, err)
		}
		watches[i].gvk = gvk
		k.readers[gvk] = map[*context.CancelCauseFunc]struct{}{}
		k.groups[gvk.Group] = true
	}
	k.followers = append(k.followers, follower{ctl, watches, changed})
	return k.refresh(ctx)
}

// Served reports whether the cluster serves the kind, as far as known.
func (k *Kinds) Served(gvk schema.GroupVersionKind) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.served[gvk]
}

// Start queries the discovery API until ctx ends: when CustomResourceDefinitions have
// changed, or periodically where they cannot be watched.
func (k *Kinds) Start(ctx context.Context) error {
	if !k.onlyAsk {
		k.definitions.watch(ctx)
	}
	var changed time.Time
	timer := time.NewTimer(k.interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.definitions.changes:
			changed = time.Now()
		case <-timer.C:
		}
		pause, err := k.interval, k.refresh(ctx)
		if err != nil {
			log.FromContext(ctx).Error(err, "Following the kinds that the cluster serves failed; trying again", "interval", k.interval)
		} else if !k.unanswered && k.definitions.watching() {
			pause = pauseAfter(time.Since(changed))
		}
		timer.Reset(pause)
	}
}

// pauseAfter returns the delay before the next query while changes are announced, given
// the time since the last one.
func pauseAfter(change time.Duration) time.Duration {
	if change < lag {
		return max(lagInterval, change)
	}
	return calmInterval
}

// NeedLeaderElection is false so that a standby replica has warm caches of
// the optional kinds too.
func (k *Kinds) NeedLeaderElection() bool { return false }

func (k *Kinds) refresh(ctx context.Context) error {
	found := k.discover(ctx)
	var errs []error
	for _, f := range k.followers {
		changed := false
		for i := range f.watches {
			watch := &f.watches[i]
			was := watch.running
			switch {
			case !found[watch.gvk]:
				errs = append(errs, k.stop(ctx, watch))
			case !was:
				errs = append(errs, k.start(ctx, f, watch))
			}
			changed = changed || was != watch.running
		}
		if changed {
			f.changed()
		}
	}
	return errors.Join(errs...)
}

func (k *Kinds) start(ctx context.Context, f follower, watch *Watch) error {
	if err := f.Watch(source.Kind(k.cache, watch.Object, watch.Handler, watch.Predicates...)); err != nil {
		return fmt.Errorf("watching %s: %w", watch.gvk.Kind, err)
	}
	if !k.Served(watch.gvk) {
		log.FromContext(ctx).Info("A kind became available", "kind", watch.gvk.Kind, "group", watch.gvk.Group)
	}
	watch.running = true
	k.set(watch.gvk, true)
	return nil
}

// stop also runs for a kind that was not served before: a pass that called
// Served just before the kind disappeared may have started its informer again.
func (k *Kinds) stop(ctx context.Context, watch *Watch) error {
	if k.Served(watch.gvk) {
		log.FromContext(ctx).Info("A kind is no longer served", "kind", watch.gvk.Kind, "group", watch.gvk.Group)
	}
	// Before the informer is removed, because the next read would start a new one.
	watch.running = false
	k.set(watch.gvk, false)
	// A cache of single namespaces looks the kind up in the mapper; if the mapper
	// does not know the kind, there is no informer.
	if err := k.cache.RemoveInformer(ctx, watch.Object); err != nil && !meta.IsNoMatchError(err) {
		return fmt.Errorf("stopping the informer of %s: %w", watch.gvk.Kind, err)
	}
	k.endReads(watch.gvk)
	return nil
}

// whenStopped arranges for end to be called when the informer of the kind is stopped, until
// unregister is called. Reads of kinds that k does not track never end early. The error
// says that the kind is not served.
func (k *Kinds) whenStopped(gvk schema.GroupVersionKind, end context.CancelCauseFunc) (unregister func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	readers, tracked := k.readers[gvk]
	switch {
	case !tracked:
		return func() {}, nil
	case !k.served[gvk]:
		return nil, notServed(gvk)
	}
	readers[&end] = struct{}{}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(readers, &end)
	}, nil
}

func (k *Kinds) endReads(gvk schema.GroupVersionKind) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for end := range k.readers[gvk] {
		(*end)(notServed(gvk))
	}
}

func notServed(gvk schema.GroupVersionKind) error {
	return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
}

// discover queries each group version separately: a handful of small answers
// instead of everything that the cluster serves. A group version whose API server
// answers with an error, or not in time, has not disappeared: its kinds keep
// their last known state.
func (k *Kinds) discover(ctx context.Context) map[schema.GroupVersionKind]bool {
	lists := map[schema.GroupVersion]*metav1.APIResourceList{}
	found := map[schema.GroupVersionKind]bool{}
	k.unanswered = false
	for gvk := range k.readers {
		version := gvk.GroupVersion()
		list, asked := lists[version]
		if !asked {
			list = k.ask(ctx, version)
			lists[version] = list
		}
		if list == nil {
			k.unanswered = true
			found[gvk] = k.Served(gvk)
			continue
		}
		found[gvk] = hasKind(list, gvk.Kind)
	}
	return found
}

// ask returns the served kinds of a group version, nil if unknown.
func (k *Kinds) ask(ctx context.Context, version schema.GroupVersion) *metav1.APIResourceList {
	limited, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	list, err := k.discovery.ServerResourcesForGroupVersionWithContext(limited, version.String())
	switch {
	case apierrors.IsNotFound(err):
		return &metav1.APIResourceList{}
	case err != nil:
		if ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "The cluster does not say which kinds of a group version it serves; asking again",
				"groupVersion", version.String(), "interval", k.interval)
		}
		return nil
	}
	return list
}

func (k *Kinds) set(gvk schema.GroupVersionKind, served bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.served[gvk] = served
}

func hasKind(list *metav1.APIResourceList, kind string) bool {
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind })
}
