// Package refs reads the Secrets and ConfigMaps that users refer to.
//
// They are not cached: a cluster may hold thousands of them, most of which do
// not concern the operator. Only their metadata is watched. The content of a
// referenced object is read from the API server once per resource version and
// then kept, so a pass over a converged resource costs no request. Content is
// dropped when its object is deleted, and soon after the last reference to it
// is gone. The memory that foreign Secrets take thus depends on their number
// only.
package refs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/c5c3/forge/internal/common/intern"
)

var _ client.Reader = (*Reader)(nil)

var (
	secretGVK    = corev1.SchemeGroupVersion.WithKind("Secret")
	configMapGVK = corev1.SchemeGroupVersion.WithKind("ConfigMap")
)

// sweepPeriod is the interval at which content without references is dropped.
const sweepPeriod = 10 * time.Minute

// Reader reads referenced objects. It is safe for concurrent use.
type Reader struct {
	metadata cache.Cache
	live     client.Reader

	mu sync.Mutex
	// content holds read-only objects.
	content map[entryKey]client.Object
	// mappers map an object to the requests of the resources that refer to it,
	// by kind.
	mappers map[string][]handler.MapFunc
}

type entryKey struct {
	kind string
	name client.ObjectKey
}

// New returns a Reader with a separate metadata cache that mgr starts. The
// manager's cache is no option, because it holds only the operator's own
// Secrets and ConfigMaps. namespace limits the watch; "" means all namespaces.
func New(mgr ctrl.Manager, namespace string) (*Reader, error) {
	options := cache.Options{
		Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient(),
		DefaultTransform: keepIdentity,
	}
	if namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	metadata, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("creating the metadata cache for referenced objects: %w", err)
	}
	if err := mgr.Add(metadata); err != nil {
		return nil, fmt.Errorf("adding the metadata cache for referenced objects: %w", err)
	}
	r := newReader(metadata, mgr.GetAPIReader())
	if err := mgr.Add(r); err != nil {
		return nil, fmt.Errorf("adding the reader of referenced objects: %w", err)
	}
	return r, nil
}

func newReader(metadata cache.Cache, live client.Reader) *Reader {
	return &Reader{
		metadata: metadata, live: live, content: map[entryKey]client.Object{}, mappers: map[string][]handler.MapFunc{},
	}
}

// Start periodically drops content that is no longer referenced, until ctx
// ends.
func (r *Reader) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, r.sweep, sweepPeriod)
	return nil
}

// NeedLeaderElection is false: every replica keeps content.
func (r *Reader) NeedLeaderElection() bool { return false }

func (r *Reader) sweep(ctx context.Context) {
	r.mu.Lock()
	kept := slices.Collect(maps.Keys(r.content))
	r.mu.Unlock()
	for _, entry := range kept {
		if !r.referenced(ctx, entry) {
			r.drop(entry)
		}
	}
}

func (r *Reader) referenced(ctx context.Context, entry entryKey) bool {
	r.mu.Lock()
	mappers := r.mappers[entry.kind]
	r.mu.Unlock()
	obj := partial(corev1.SchemeGroupVersion.WithKind(entry.kind))
	obj.SetNamespace(entry.name.Namespace)
	obj.SetName(entry.name.Name)
	return slices.ContainsFunc(mappers, func(mapper handler.MapFunc) bool { return len(mapper(ctx, obj)) > 0 })
}

func (r *Reader) drop(entry entryKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.content, entry)
}

func (r *Reader) keep(entry entryKey, obj client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.content[entry] = obj
}

// keepIdentity removes metadata that no reference needs, so that watching all
// Secrets stays cheap.
func keepIdentity(obj any) (any, error) {
	if partial, ok := obj.(*metav1.PartialObjectMetadata); ok {
		partial.ManagedFields, partial.Annotations, partial.Labels, partial.OwnerReferences = nil, nil, nil, nil
		partial.Kind, partial.APIVersion = intern.String(partial.Kind), intern.String(partial.APIVersion)
		partial.Namespace = intern.String(partial.Namespace)
	}
	return obj, nil
}

// Get copies the named Secret or ConfigMap into obj. The error satisfies
// apierrors.IsNotFound if the object does not exist. Other types are an error.
func (r *Reader) Get(ctx context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	switch into := obj.(type) {
	case *corev1.Secret:
		found, err := r.read(ctx, secretGVK, key, &corev1.Secret{})
		if secret, ok := found.(*corev1.Secret); ok {
			secret.DeepCopyInto(into)
		}
		return err
	case *corev1.ConfigMap:
		found, err := r.read(ctx, configMapGVK, key, &corev1.ConfigMap{})
		if configMap, ok := found.(*corev1.ConfigMap); ok {
			configMap.DeepCopyInto(into)
		}
		return err
	}
	return fmt.Errorf("%T cannot be referenced; only Secrets and ConfigMaps can", obj)
}

// List is not supported: objects are referenced by name.
func (r *Reader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("referenced objects can be read by name only")
}

func (r *Reader) read(ctx context.Context, gvk schema.GroupVersionKind, key client.ObjectKey, into client.Object) (client.Object, error) {
	entry := entryKey{kind: gvk.Kind, name: key}
	metadata := partial(gvk)
	if err := r.metadata.Get(ctx, key, metadata); err != nil {
		if apierrors.IsNotFound(err) {
			r.drop(entry)
		}
		return nil, err
	}
	if known := r.load(entry); known != nil &&
		known.GetUID() == metadata.GetUID() && known.GetResourceVersion() == metadata.GetResourceVersion() {
		return known, nil
	}
	if err := r.live.Get(ctx, key, into); err != nil {
		return nil, err
	}
	into.SetManagedFields(nil)
	r.keep(entry, into)
	// The object may have been deleted before its content was kept; that delete
	// event dropped nothing.
	if err := r.metadata.Get(ctx, key, metadata); apierrors.IsNotFound(err) {
		r.drop(entry)
	}
	return into, nil
}

// load returns the kept object, or nil.
func (r *Reader) load(entry entryKey) client.Object {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.content[entry]
}

// SecretSource maps changed Secrets to the requests of all resources that refer
// to them. It also makes the Reader drop the content of deleted Secrets.
func (r *Reader) SecretSource(mapper handler.MapFunc) source.TypedSource[reconcile.Request] {
	return r.source(secretGVK, mapper)
}

// ConfigMapSource is SecretSource for ConfigMaps.
func (r *Reader) ConfigMapSource(mapper handler.MapFunc) source.TypedSource[reconcile.Request] {
	return r.source(configMapGVK, mapper)
}

func (r *Reader) source(gvk schema.GroupVersionKind, mapper handler.MapFunc) source.TypedSource[reconcile.Request] {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mappers[gvk.Kind] = append(r.mappers[gvk.Kind], mapper)
	return source.Kind[client.Object](r.metadata, partial(gvk), dropping{
		EventHandler: handler.EnqueueRequestsFromMapFunc(mapper),
		drop:         func(name client.ObjectKey) { r.drop(entryKey{kind: gvk.Kind, name: name}) },
	})
}

// dropping drops the content of a deleted object before it handles the event.
type dropping struct {
	handler.EventHandler
	drop func(client.ObjectKey)
}

func (d dropping) Delete(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	d.drop(client.ObjectKeyFromObject(e.Object))
	d.EventHandler.Delete(ctx, e, queue)
}

func partial(gvk schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(gvk)
	return metadata
}
