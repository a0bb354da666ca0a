//go:build integration

package operator

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// labelled returns a client as that of an operator, whose cache has the ConfigMaps with the
// label.
func labelled(t *testing.T) client.Client {
	t.Helper()
	own := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{managedByLabel: "test"})}
	cached, err := cache.New(env.Config, cache.Options{
		Scheme: clientgoscheme.Scheme, ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: own},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = cached.Start(t.Context()) }()
	options := clientOptions()
	options.Scheme, options.Cache.Reader = clientgoscheme.Scheme, cached
	c, err := newClient(env.Config, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDeletingAnObjectMissingFromTheCacheDoesNotBlockReads(t *testing.T) {
	c, admin := labelled(t), env.Client(t, nil)
	namespace := env.Namespace(t)
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "stale", Labels: map[string]string{managedByLabel: "test"},
	}}
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKeyFromObject(obj)
	if err := c.Get(t.Context(), key, obj); err != nil {
		t.Fatal(err)
	}
	stripped := obj.DeepCopy()
	stripped.Labels = nil
	if err := admin.Update(t.Context(), stripped); err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "a cache without the object", func(ctx context.Context) error {
		err := c.Get(ctx, key, &corev1.ConfigMap{}, client.DisableReadYourWritesConsistency)
		if !apierrors.IsNotFound(err) {
			return errors.New("it is there")
		}
		return nil
	})
	if err := c.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := c.List(ctx, &corev1.ConfigMapList{}); err != nil {
		t.Errorf("a list waits for the deletion: %v", err)
	}
	if err := c.Get(ctx, key, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("a read waits for the deletion: %v", err)
	}
}
