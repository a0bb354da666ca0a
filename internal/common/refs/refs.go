// Package refs reads the Secrets and ConfigMaps that users refer to.
//
// They are not cached: a cluster may hold thousands of them and most are none
// of our business. Only their metadata is watched; the content of a referenced
// one is read from the API server once per resource version. A pass over a
// converged resource therefore costs no request, and memory grows neither with
// the size nor with the content of foreign Secrets.
package refs

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

var _ client.Reader = (*Reader)(nil)

var (
	secretGVK    = corev1.SchemeGroupVersion.WithKind("Secret")
	configMapGVK = corev1.SchemeGroupVersion.WithKind("ConfigMap")
)

// Reader reads referenced objects. It is safe for concurrent use.
type Reader struct {
	metadata cache.Cache
	live     client.Reader

	mu      sync.Mutex
	content map[entryKey]client.Object
}

type entryKey struct {
	kind string
	name client.ObjectKey
}

// New builds a Reader with a metadata cache of its own, started by mgr. The
// manager's cache cannot serve: it holds only the operator's own Secrets and
// ConfigMaps. namespace limits the watch; "" means all namespaces.
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
	return &Reader{metadata: metadata, live: mgr.GetAPIReader(), content: map[entryKey]client.Object{}}, nil
}

// keepIdentity strips what a reference never needs, so that watching every
// Secret's metadata stays cheap.
func keepIdentity(obj any) (any, error) {
	if partial, ok := obj.(*metav1.PartialObjectMetadata); ok {
		partial.ManagedFields, partial.Annotations, partial.Labels, partial.OwnerReferences = nil, nil, nil, nil
	}
	return obj, nil
}

// Get copies the named Secret or ConfigMap into obj, or returns an error that
// apierrors.IsNotFound recognises. Other types are an error.
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

// List is not supported: references are by name.
func (r *Reader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("referenced objects can be read by name only")
}

func (r *Reader) read(ctx context.Context, gvk schema.GroupVersionKind, key client.ObjectKey, into client.Object) (client.Object, error) {
	entry := entryKey{kind: gvk.Kind, name: key}
	metadata := partial(gvk)
	if err := r.metadata.Get(ctx, key, metadata); err != nil {
		if apierrors.IsNotFound(err) {
			r.store(entry, nil)
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
	r.store(entry, into)
	return into, nil
}

func (r *Reader) load(key entryKey) client.Object {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.content[key]
}

func (r *Reader) store(key entryKey, obj client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if obj == nil {
		delete(r.content, key)
		return
	}
	r.content[key] = obj
}

// SecretSource is the watch that maps changed Secrets to requests.
func (r *Reader) SecretSource(mapper handler.MapFunc) source.TypedSource[reconcile.Request] {
	return r.source(secretGVK, mapper)
}

// ConfigMapSource is the watch that maps changed ConfigMaps to requests.
func (r *Reader) ConfigMapSource(mapper handler.MapFunc) source.TypedSource[reconcile.Request] {
	return r.source(configMapGVK, mapper)
}

func (r *Reader) source(gvk schema.GroupVersionKind, mapper handler.MapFunc) source.TypedSource[reconcile.Request] {
	return source.Kind[client.Object](r.metadata, partial(gvk), handler.EnqueueRequestsFromMapFunc(mapper))
}

func partial(gvk schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(gvk)
	return metadata
}
