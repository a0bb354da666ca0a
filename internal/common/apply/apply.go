// Package apply writes objects by server-side apply, and only if that would
// change something.
//
// Whether it would is decided from the cached live object: the fields its
// managedFields record for our manager are compared with the desired ones. A
// difference in a value, a field we want and do not own, or a field we own and
// no longer want, means an apply; anything else costs no request at all.
// Fields of other managers are ignored. A cache may hold digests of the values
// instead of the fields, see [Condense].
//
// The operators' caches hold only their own objects, selected by label. An apply
// to a name that the cache does not know therefore creates the object or is a
// conflict. An unstructured read then finds the owner of the name, which
// the client must not serve from a cache.
package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// FieldManager is the field manager of everything the operators apply.
const FieldManager = "forge-operator"

// ErrNotOwned is wrapped by errors about an object whose name we need but
// which has another owner. It is never adopted.
var ErrNotOwned = errors.New("object is not controlled by this resource")

// ErrPredecessor is wrapped by errors about an object that a deleted resource
// of the same kind and name left behind. Garbage collection removes it.
var ErrPredecessor = errors.New("object of a deleted predecessor is being removed")

// IsPredecessors reports whether live is controlled by a resource of the same
// kind and name as the controller of desired, but not by it.
func IsPredecessors(desired, live client.Object) bool {
	ours, theirs := metav1.GetControllerOf(desired), metav1.GetControllerOf(live)
	if ours == nil || theirs == nil {
		return false
	}
	group, _ := schema.ParseGroupVersion(ours.APIVersion)
	other, _ := schema.ParseGroupVersion(theirs.APIVersion)
	return ours.UID != theirs.UID && ours.Name == theirs.Name && ours.Kind == theirs.Kind && group.Group == other.Group
}

// EnsureObject makes the live object carry the fields of obj, owned by
// fieldManager and controlled by owner, and leaves the result in obj. It makes
// no request if nothing would change. An existing object that owner does not
// control, and that this manager never applied, is refused with ErrNotOwned, or
// with ErrPredecessor if garbage collection will remove it.
//
// obj must set every field it wants to own and nothing else; zero values that
// its Go type does not omit count as wanted. An obj with values copied from the live
// object carries the resource version that it read them from, or [NoObject]: it is
// written only over that version, and is a conflict otherwise.
func EnsureObject[T client.Object](
	ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, obj T, fieldManager string,
) error {
	basis := obj.GetResourceVersion()
	if err := prepare(scheme, owner, obj); err != nil {
		return err
	}
	live, err := get(ctx, c, obj)
	if err != nil {
		return err
	}
	if live == nil {
		live, err = createOrFind(ctx, c, obj, fieldManager)
		if live == nil || err != nil {
			return err
		}
	}
	if err := checkOwner(owner, obj, live, fieldManager); err != nil {
		return err
	}
	if basis != "" && basis != live.GetResourceVersion() {
		return outdated(obj)
	}
	verdict, keep := verdictOf(live, obj, fieldManager)
	if keep && settled.has(live.GetUID(), verdict) {
		return into(live, obj)
	}
	same, err := Converged(live, obj, fieldManager)
	switch {
	case err != nil:
		return err
	case !same:
		return write(ctx, c, obj, basis, fieldManager)
	case keep:
		settled.note(live.GetUID(), verdict, time.Now())
	}
	return into(live, obj)
}

// NoObject is a resource version that no object has: etcd counts from 1 and the
// first write makes it 2. The API server compares the version of an apply with that
// of the existing object, and creates the object if there is none.
const NoObject = "1"

// outdated returns the conflict for an object that was built from a version other
// than the current one.
func outdated(obj client.Object) error {
	gvk := obj.GetObjectKind().GroupVersionKind()
	return apierrors.NewConflict(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, obj.GetName(),
		errors.New("it has changed since it was read"))
}

// createOrFind creates the object and returns nil, or returns the existing
// one that the label-limited cache does not show.
func createOrFind(ctx context.Context, c client.Client, obj client.Object, fieldManager string) (client.Object, error) {
	fields, err := fieldsOver(obj, NoObject)
	if err != nil {
		return nil, err
	}
	taken := patch(ctx, c, obj, fields, fieldManager)
	if !apierrors.IsConflict(taken) {
		return nil, taken
	}
	live, err := lookUp(ctx, c, obj)
	if live == nil && err == nil {
		// It was deleted in between: the next pass finds the name free.
		return nil, taken
	}
	return live, err
}

// Stays reports whether the API server still has the same object as the cache, not being
// deleted.
func Stays(ctx context.Context, c client.Client, cached client.Object) (bool, error) {
	gvk, err := apiutil.GVKForObject(cached, c.Scheme())
	if err != nil {
		return false, fmt.Errorf("finding the kind of %T: %w", cached, err)
	}
	wanted := &unstructured.Unstructured{}
	wanted.SetGroupVersionKind(gvk)
	wanted.SetNamespace(cached.GetNamespace())
	wanted.SetName(cached.GetName())
	live, err := lookUp(ctx, c, wanted)
	return live != nil && live.GetUID() == cached.GetUID() && live.GetDeletionTimestamp() == nil, err
}

// lookUp asks the API server for an object that the cache does not know. A client
// that waits for the cache to have seen earlier writes would start an informer
// of unstructured objects for that, next to the typed one.
func lookUp(ctx context.Context, c client.Client, obj client.Object) (client.Object, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
	err := c.Get(ctx, client.ObjectKeyFromObject(obj), live, client.DisableReadYourWritesConsistency)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s: %w", kindOf(obj), client.ObjectKeyFromObject(obj), err)
	}
	return live, nil
}

// EnsureAbsent deletes obj, known by name, if it exists and owner controls it.
// It makes no request if there is nothing to delete, and leaves foreign objects
// alone.
func EnsureAbsent(ctx context.Context, c client.Client, owner, obj client.Object) error {
	key := client.ObjectKeyFromObject(obj)
	if err := c.Get(ctx, key, obj); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(obj, owner) || !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	uid := obj.GetUID()
	err := c.Delete(ctx, obj, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %T %s: %w", obj, key, err)
	}
	return nil
}

// prepare stamps what every applied object carries: its kind, which objects
// built in code lack, and the controller reference, which is asserted on every
// apply so that drift on it is repaired too.
func prepare(scheme *runtime.Scheme, owner, obj client.Object) error {
	gvk, err := apiutil.GVKForObject(obj, scheme)
	if err != nil {
		return fmt.Errorf("finding the kind of %T: %w", obj, err)
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	if err := controllerutil.SetControllerReference(owner, obj, scheme); err != nil {
		return fmt.Errorf("setting the owner of %s %s: %w", gvk.Kind, client.ObjectKeyFromObject(obj), err)
	}
	return nil
}

func get[T client.Object](ctx context.Context, c client.Client, obj T) (client.Object, error) {
	live, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return nil, fmt.Errorf("the deep copy of %T is not a client.Object", obj)
	}
	err := c.Get(ctx, client.ObjectKeyFromObject(obj), live)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s: %w", kindOf(obj), client.ObjectKeyFromObject(obj), err)
	}
	live.GetObjectKind().SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
	return live, nil
}

// checkOwner refuses foreign objects. An object without a controller that
// this manager once applied has only lost its reference, which is repaired.
func checkOwner(owner, desired, live client.Object, fieldManager string) error {
	controller := metav1.GetControllerOf(live)
	if controller == nil && managedBy(live, fieldManager) {
		return nil
	}
	if controller != nil && controller.UID == owner.GetUID() {
		return nil
	}
	if IsPredecessors(desired, live) {
		return fmt.Errorf("%s %s: %w", kindOf(live), client.ObjectKeyFromObject(live), ErrPredecessor)
	}
	holder := "has no controller"
	if controller != nil {
		holder = fmt.Sprintf("is controlled by %s %s", controller.Kind, controller.Name)
	}
	return fmt.Errorf("%s %s already exists and %s; rename or delete it: %w",
		kindOf(live), client.ObjectKeyFromObject(live), holder, ErrNotOwned)
}

// write applies the fields of obj to the existing object, or to a version of it.
func write(ctx context.Context, c client.Client, obj client.Object, version, fieldManager string) error {
	fields, err := fieldsOver(obj, version)
	if err != nil {
		return err
	}
	if version != "" {
		return patch(ctx, c, obj, fields, fieldManager)
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error { return patch(ctx, c, obj, fields, fieldManager) })
}

// fieldsOver returns the fields to apply over a version of the object, any if it is "".
func fieldsOver(obj client.Object, version string) (map[string]any, error) {
	fields, err := desiredFields(obj)
	if err != nil || version == "" {
		return fields, err
	}
	if err := unstructured.SetNestedField(fields, version, "metadata", "resourceVersion"); err != nil {
		return nil, fmt.Errorf("setting the version of %s %s: %w", kindOf(obj), client.ObjectKeyFromObject(obj), err)
	}
	return fields, nil
}

// patch applies the fields and leaves the result in obj.
func patch(ctx context.Context, c client.Client, obj client.Object, fields map[string]any, fieldManager string) error {
	gvk, key := obj.GetObjectKind().GroupVersionKind(), client.ObjectKeyFromObject(obj)
	body, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("encoding %s %s: %w", gvk.Kind, key, err)
	}
	err = c.Patch(ctx, obj, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(fieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("applying %s %s: %w", gvk.Kind, key, err)
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return nil
}

// into moves live, which has no other users, over obj so that callers read fresh status
// without another request.
func into(live, obj client.Object) error {
	if from, to := reflect.ValueOf(live), reflect.ValueOf(obj); from.Type() == to.Type() {
		to.Elem().Set(from.Elem())
		return nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return fmt.Errorf("converting %s: %w", kindOf(live), err)
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(fields, obj)
}

func kindOf(obj client.Object) string {
	return obj.GetObjectKind().GroupVersionKind().Kind
}
