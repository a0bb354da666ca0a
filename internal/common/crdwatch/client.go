package crdwatch

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Client returns a client for kinds that may not be served. It wraps c.
//
// Reading a kind that is not served fails at once. A read that waits for the cache
// ends when the informer of the kind is stopped; the cache itself would wait
// without checking whether the informer still runs. Both return a
// *meta.NoKindMatchError.
//
// Reads do not wait until the cache has seen earlier writes. That wait is bound to
// one informer for the life of the process, but a kind that is removed and
// installed again gets another informer.
func (k *Kinds) Client(c client.Client) client.Client { return tracking{Client: c, kinds: k} }

type tracking struct {
	client.Client
	kinds *Kinds
}

func (c tracking) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return c.read(ctx, obj, func(ctx context.Context) error {
		return c.Client.Get(ctx, key, obj, append(opts, client.DisableReadYourWritesConsistency)...)
	})
}

func (c tracking) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.read(ctx, list, func(ctx context.Context) error {
		return c.Client.List(ctx, list, append(opts, client.DisableReadYourWritesConsistency)...)
	})
}

// read calls read with a context that ends with the informer of the object's
// kind.
func (c tracking) read(ctx context.Context, obj runtime.Object, read func(context.Context) error) error {
	gvk, err := apiutil.GVKForObject(obj, c.Scheme())
	if err != nil {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	unregister, err := c.kinds.whenStopped(gvk, cancel)
	if err != nil {
		return err
	}
	defer unregister()
	err = read(ctx)
	if cause := context.Cause(ctx); err != nil && meta.IsNoMatchError(cause) {
		return cause
	}
	return err
}

func (c tracking) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return c.Client.Patch(ctx, obj, patch, append(opts, client.DisableReadYourWritesConsistency)...)
}

func (c tracking) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return c.Client.Delete(ctx, obj, append(opts, client.DisableReadYourWritesConsistency)...)
}
