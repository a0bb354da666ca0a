package world

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// writers is how many objects are written concurrently.
const writers = 8

// Each calls do for all numbers below n, several concurrently.
func Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// Keys names n Keystones, with a fixed number per namespace. Batches with another prefix
// have separate namespaces.
func Keys(prefix string, n, perNamespace int) []client.ObjectKey {
	keys := make([]client.ObjectKey, n)
	for i := range keys {
		keys[i] = client.ObjectKey{
			Namespace: fmt.Sprintf("%s-%d", prefix, i/perNamespace), Name: fmt.Sprintf("keystone-%d", i%perNamespace),
		}
	}
	return keys
}

// ServiceHosts returns the host names of the Keystones' Services.
func ServiceHosts(keys []client.ObjectKey) []string {
	hosts := make([]string, len(keys))
	for i, key := range keys {
		hosts[i] = cluster.Settings{}.ServiceHost(key.Name, key.Namespace)
	}
	return hosts
}

// Brownfield returns a Keystone with its own database, cache and Secrets.
func Brownfield(key client.ObjectKey) *keystonev1alpha1.Keystone {
	return &keystonev1alpha1.Keystone{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: keystonev1alpha1.KeystoneSpec{
			Replicas: 1,
			Image:    commonv1.ImageSpec{Repository: "ghcr.io/c5c3/keystone", Tag: "2025.2"},
			Database: commonv1.DatabaseSpec{
				// Keystones that share a database block each other.
				Host: key.Name + "." + key.Namespace + ".example.com", Database: "keystone",
				SecretRef: commonv1.SecretRefSpec{Name: databaseSecret(key)},
			},
			Cache: commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			Bootstrap: keystonev1alpha1.BootstrapSpec{
				AdminPasswordSecretRef: commonv1.SecretRefSpec{Name: adminSecret(key)},
			},
		},
	}
}

func databaseSecret(key client.ObjectKey) string { return key.Name + "-database" }

func adminSecret(key client.ObjectKey) string { return key.Name + "-admin" }

// Prepare creates what the Keystones refer to, with their namespaces.
func (w *World) Prepare(ctx context.Context, keys []client.ObjectKey) error {
	seen := map[string]bool{}
	for _, key := range keys {
		if seen[key.Namespace] {
			continue
		}
		seen[key.Namespace] = true
		if err := w.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}}); err != nil {
			return err
		}
	}
	return Each(ctx, len(keys), func(ctx context.Context, i int) error {
		for name, data := range map[string]map[string]string{
			databaseSecret(keys[i]): {"username": "keystone", "password": "database-password"},
			adminSecret(keys[i]):    {"password": "admin-password"},
		} {
			meta := metav1.ObjectMeta{Namespace: keys[i].Namespace, Name: name}
			if err := w.Create(ctx, &corev1.Secret{ObjectMeta: meta, StringData: data}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Create creates an object. An existing one is left alone.
func (w *World) Create(ctx context.Context, obj client.Object) error {
	if err := w.Client.Create(ctx, obj); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %T %s: %w", obj, obj.GetName(), err)
	}
	return nil
}

// Change patches all the Keystones.
func (w *World) Change(ctx context.Context, keys []client.ObjectKey, edit func(*keystonev1alpha1.Keystone)) error {
	return Each(ctx, len(keys), func(ctx context.Context, i int) error {
		k := &keystonev1alpha1.Keystone{}
		if err := w.Client.Get(ctx, keys[i], k); err != nil {
			return err
		}
		before := k.DeepCopy()
		edit(k)
		return w.Client.Patch(ctx, k, client.MergeFrom(before))
	})
}

// Touch changes an annotation of an object that Keystones share.
func (w *World) Touch(ctx context.Context, obj client.Object) error {
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return err
	}
	before, known := obj.DeepCopyObject().(client.Object)
	if !known {
		return fmt.Errorf("the copy of %T is no object", obj)
	}
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["example.com/touched"] = obj.GetResourceVersion()
	obj.SetAnnotations(annotations)
	return w.Client.Patch(ctx, obj, client.MergeFrom(before))
}
