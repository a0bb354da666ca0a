package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The functions of this file are for objects and fields that must not be applied: those
// that another component fills, and those whose earlier value decides about the write.
// Where they take a phrase, it says in an error what failed, in front of the kind and the
// name: "storing a new password in" results in "storing a new password in Secret
// admin-password: ...".

// Updating is the phrase for a change that needs no explanation.
const Updating = "updating"

// Create creates the object. An object that exists already is an error.
func Create(ctx context.Context, c client.Writer, obj client.Object) error {
	object := described(obj)
	return failed("creating", object, c.Create(ctx, obj))
}

// Update replaces the object as a whole. It is a conflict if the object has changed since
// it was read.
func Update(ctx context.Context, c client.Writer, obj client.Object, doing string) error {
	object := described(obj)
	return failed(doing, object, c.Update(ctx, obj))
}

// UpdateStatus replaces the status of the object. It is a conflict if the object has
// changed since it was read.
func UpdateStatus(ctx context.Context, c client.StatusClient, obj client.Object) error {
	object := described(obj)
	return failed("updating the status of", object, c.Status().Update(ctx, obj))
}

// Merge writes the fields of obj that differ from those of before. It is a conflict if
// the object has changed since before was read.
func Merge(ctx context.Context, c client.Writer, before, obj client.Object, doing string) error {
	return Patch(ctx, c, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), doing)
}

// MergeUnlocked is [Merge] for fields that nobody else writes: it writes them whatever else
// has changed. A list is replaced as a whole.
func MergeUnlocked(ctx context.Context, c client.Writer, before, obj client.Object, doing string) error {
	return Patch(ctx, c, obj, client.MergeFrom(before), doing)
}

// Patch is for patches that are not the difference of two objects, or that have options.
func Patch(
	ctx context.Context, c client.Writer, obj client.Object, patch client.Patch, doing string, options ...client.PatchOption,
) error {
	object := described(obj)
	return failed(doing, object, c.Patch(ctx, obj, patch, options...))
}

// Delete deletes exactly the object that was read, whatever has changed in it since. An
// object that is gone is not an error; another one that has its name now is a conflict,
// and stays.
func Delete(ctx context.Context, c client.Writer, obj client.Object, options ...client.DeleteOption) error {
	object, uid := described(obj), obj.GetUID()
	err := c.Delete(ctx, obj, append(options, client.Preconditions{UID: &uid})...)
	return failed("deleting", object, client.IgnoreNotFound(err))
}

// DeleteUnchanged deletes exactly the version of the object that was read. One that has
// changed since stays. Neither that nor an object that is gone is an error.
func DeleteUnchanged(ctx context.Context, c client.Writer, obj client.Object) error {
	object, uid, version := described(obj), obj.GetUID(), obj.GetResourceVersion()
	err := c.Delete(ctx, obj, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if apierrors.IsConflict(err) {
		return nil
	}
	return failed("deleting", object, client.IgnoreNotFound(err))
}

// EnsureAbsent deletes obj, known by name, if it exists and owner controls it.
// It makes no request if there is nothing to delete, and leaves foreign objects
// alone.
func EnsureAbsent(ctx context.Context, c client.Client, owner, obj client.Object) error {
	live, err := Find(ctx, c, client.ObjectKeyFromObject(obj), obj)
	if live == nil || err != nil || !metav1.IsControlledBy(live, owner) || !live.GetDeletionTimestamp().IsZero() {
		return err
	}
	return Delete(ctx, c, live, client.PropagationPolicy(metav1.DeletePropagationBackground))
}
