package config

import (
	"context"
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const (
	testNamespace = "openstack"
	testBase      = "keystone-config"
)

var (
	testLabels = map[string]string{"app.kubernetes.io/name": "keystone"}
	testData   = map[string]string{"keystone.conf": "[token]\nprovider = fernet\n"}

	errUnavailable = errors.New("the API server is away")
)

// newOwner returns a stand-in for a custom resource; any registered kind will do.
func newOwner(uid types.UID) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "keystone", Namespace: testNamespace, UID: uid}}
}

// cluster is an API server behind a cache. It records the requests that bypass the
// cache.
type cluster struct {
	server   client.WithWatch
	requests []string
	// cacheIsEmpty makes all cached reads miss, as if the cache had not seen a
	// write yet.
	cacheIsEmpty bool
	// condensed makes cached reads return digests of the content.
	condensed bool
	// failing is the request that fails with failure, which defaults to
	// errUnavailable.
	failing string
	failure error
}

func newCluster(objects ...client.Object) *cluster {
	return &cluster{failure: errUnavailable, server: fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).Build()}
}

// client returns a client like a manager's: it reads from the cache and writes to
// the API server.
func (c *cluster) client() client.Client {
	return interceptor.NewClient(c.server, interceptor.Funcs{
		Get: func(ctx context.Context, w client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if c.failing == "cached get" {
				return c.failure
			}
			if c.cacheIsEmpty {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, key.Name)
			}
			err := w.Get(ctx, key, obj, opts...)
			if configMap, ok := obj.(*corev1.ConfigMap); ok && c.condensed {
				// A cache may hand in what it has got before.
				Condense(configMap)
				Condense(configMap)
			}
			return err
		},
		List: func(ctx context.Context, w client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if c.failing == "cached list" {
				return c.failure
			}
			return w.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, w client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			return c.request("create", func() error { return w.Create(ctx, obj, opts...) })
		},
		Delete: func(ctx context.Context, w client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			applied := (&client.DeleteOptions{}).ApplyOptions(opts)
			if applied.Preconditions == nil || applied.Preconditions.UID == nil || *applied.Preconditions.UID != obj.GetUID() {
				return errors.New("deletion without the UID as a precondition")
			}
			return c.request("delete "+obj.GetName(), func() error { return w.Delete(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, w client.WithWatch, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
			return c.request("patch", func() error { return w.Patch(ctx, obj, p, opts...) })
		},
	})
}

// live returns a reader that bypasses the cache.
func (c *cluster) live() client.Reader {
	return interceptor.NewClient(c.server, interceptor.Funcs{
		Get: func(ctx context.Context, w client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			return c.request("live get", func() error { return w.Get(ctx, key, obj, opts...) })
		},
	})
}

func (c *cluster) request(name string, send func() error) error {
	c.requests = append(c.requests, name)
	if c.failing == name {
		return c.failure
	}
	return send()
}

func (c *cluster) create(t *testing.T, owner client.Object) (string, error) {
	t.Helper()
	return CreateImmutableConfigMap(
		t.Context(), c.client(), c.live(), scheme.Scheme, owner, testBase, testNamespace, testLabels, testData)
}

func (c *cluster) names(t *testing.T) []string {
	t.Helper()
	var list corev1.ConfigMapList
	if err := c.server.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(list.Items))
	for _, cm := range list.Items {
		names = append(names, cm.Name)
	}
	slices.Sort(names)
	return names
}

func (c *cluster) get(t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	var cm corev1.ConfigMap
	key := client.ObjectKey{Namespace: testNamespace, Name: name}
	if err := c.server.Get(t.Context(), key, &cm); err != nil {
		t.Fatal(err)
	}
	return &cm
}

// existing returns the ConfigMap that CreateImmutableConfigMap creates, with a
// controller of the given kind, name and UID.
func existing(kind, name string, uid types.UID) *corev1.ConfigMap {
	cm := ImmutableConfigMap(newOwner(uid), testBase, testLabels, testData)
	cm.UID = "configmap-of-" + uid
	cm.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: kind, Name: name, UID: uid,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}}
	return cm
}
