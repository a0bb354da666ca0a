package operator

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

// newClient returns the manager's client, whose deletions keep no later read waiting for
// ever.
func newClient(restConfig *rest.Config, options client.Options) (client.Client, error) {
	c, err := client.New(restConfig, options)
	if err != nil {
		return nil, err //nolint:wrapcheck // The manager says what it was for.
	}
	return deleting{c}, nil
}

// deleting deletes objects that may have left the cache. Reads wait until the cache has seen
// the deletion of an object, lists those of all objects of the kind. It never sees that of an
// object that it no longer has, because somebody has removed the label that it selects by.
type deleting struct{ client.Client }

// Delete deletes the object. If the cache does not have it any more, a second request, which
// finds nothing to delete, ends the wait.
func (c deleting) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	uid := obj.GetUID()
	err := c.Client.Delete(ctx, obj, opts...)
	if err != nil || uid == "" || (&client.DeleteOptions{}).ApplyOptions(opts).DisableReadYourWritesConsistency {
		return err //nolint:wrapcheck // The caller says what was deleted.
	}
	cached := apply.Copy(obj)
	err = c.Get(ctx, client.ObjectKeyFromObject(obj), cached, client.DisableReadYourWritesConsistency)
	if !apierrors.IsNotFound(err) && cached.GetUID() == uid {
		return nil
	}
	err = c.Client.Delete(ctx, obj, append(opts, client.Preconditions{UID: &uid})...)
	if apierrors.IsConflict(err) {
		return nil
	}
	return client.IgnoreNotFound(err) //nolint:wrapcheck // The caller says what was deleted.
}
