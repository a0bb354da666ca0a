package optional

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client is c for reading and writing optional kinds: its reads never wait for
// the cache to have seen earlier writes. That wait is bound to one informer for
// the life of the process, and the informer of a kind that went and came back
// is another one.
func Client(c client.Client) client.Client { return eventual{c} }

type eventual struct{ client.Client }

func (e eventual) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return e.Client.Get(ctx, key, obj, append(opts, client.DisableReadYourWritesConsistency)...)
}

func (e eventual) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return e.Client.List(ctx, list, append(opts, client.DisableReadYourWritesConsistency)...)
}

func (e eventual) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return e.Client.Patch(ctx, obj, patch, append(opts, client.DisableReadYourWritesConsistency)...)
}

func (e eventual) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return e.Client.Delete(ctx, obj, append(opts, client.DisableReadYourWritesConsistency)...)
}
