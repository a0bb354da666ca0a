// Package apply is the only package that sends changes to the API server, and reports the
// owner of an existing object. [EnsureObject] writes objects by server-side apply, and only
// if that would change something.
//
// Whether it would is decided from the cached live object: the fields its
// managedFields record for our manager are compared with the desired ones. A
// difference in a value, a field we want and do not own, or a field we own and
// no longer want, means an apply; anything else costs no request at all.
// Fields of other managers are ignored, unless they exclude a desired one. A cache may hold
// digests of the values instead of the fields, see [Condense]. Values that admission has put
// in the place of the applied ones are accepted as long as the operator still owns the fields.
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
	"maps"
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
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// FieldManager is the field manager of everything the operators apply.
const FieldManager = "forge-operator"

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
	if err := checkOwner(scheme, owner, live, fieldManager); err != nil {
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

// WouldChange reports whether [EnsureObject] would change an existing object that owner
// controls.
func WouldChange[T client.Object](
	ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, obj T, fieldManager string,
) (bool, error) {
	desired := Copy[client.Object](obj)
	if err := prepare(scheme, owner, desired); err != nil {
		return false, err
	}
	live, err := get(ctx, c, desired)
	if live == nil || err != nil || !metav1.IsControlledBy(live, owner) {
		return false, err
	}
	same, err := Converged(live, desired, fieldManager)
	return !same, err
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
	live, err := lookUp(ctx, c, client.ObjectKeyFromObject(obj), obj)
	switch {
	case err != nil:
		return nil, err
	case live == nil:
		// It was deleted in between: the next pass finds the name free.
		return nil, taken
	}
	return live, nil
}

// prepare stamps what every applied object carries: its kind, which objects
// built in code lack, and the controller reference, which is asserted on every
// apply so that drift on it is repaired too. One that the caller has set stays as it is.
func prepare(scheme *runtime.Scheme, owner, obj client.Object) error {
	gvk, err := kindIn(scheme, obj)
	if err != nil {
		return err
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	if metav1.IsControlledBy(obj, owner) {
		return nil
	}
	if err := controllerutil.SetControllerReference(owner, obj, scheme); err != nil {
		return fmt.Errorf("setting the owner of %s: %w", described(obj), err)
	}
	return nil
}

// get reads the object of the same name as obj, nil if there is none.
func get(ctx context.Context, c client.Client, obj client.Object) (client.Object, error) {
	live, err := Find(ctx, c, client.ObjectKeyFromObject(obj), Copy(obj))
	if live != nil {
		live.GetObjectKind().SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
	}
	return live, err
}

// write applies the fields of obj to the existing object, or to a version of it.
func write(ctx context.Context, c client.Client, obj client.Object, version, fieldManager string) error {
	fields, err := fieldsOver(obj, version)
	if err != nil {
		return err
	}
	once := func() error { return patch(ctx, c, obj, fields, fieldManager) }
	if version != "" {
		err = once()
	} else {
		err = retry.RetryOnConflict(retry.DefaultRetry, once)
	}
	if !apierrors.IsInvalid(err) {
		return err
	}
	if err := takeOverExclusive(ctx, c, obj, fields, fieldManager, err); err != nil {
		return err
	}
	return once()
}

// fieldsOver returns the fields to apply over a version of the object, any if it is "".
func fieldsOver(obj client.Object, version string) (map[string]any, error) {
	fields, err := desiredFields(obj)
	if err != nil || version == "" {
		return fields, err
	}
	if err := unstructured.SetNestedField(fields, version, "metadata", "resourceVersion"); err != nil {
		return nil, fmt.Errorf("setting the version of %s: %w", described(obj), err)
	}
	return fields, nil
}

// Fields applies the fields of the live object with a field manager that need not have all
// of them, and leaves the result in live. It is a conflict if the object is gone.
func Fields(ctx context.Context, c client.Client, live client.Object, fields map[string]any, fieldManager string) error {
	gvk, err := kindIn(c.Scheme(), live)
	if err != nil {
		return err
	}
	live.GetObjectKind().SetGroupVersionKind(gvk)
	meta := map[string]any{"name": live.GetName(), "namespace": live.GetNamespace(), "uid": live.GetUID()}
	if given, ok := fields["metadata"].(map[string]any); ok {
		maps.Copy(meta, given)
	}
	named := map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind}
	maps.Copy(named, fields)
	named["metadata"] = meta
	return patch(ctx, c, live, named, fieldManager)
}

// patch applies the fields and leaves the result in obj.
func patch(ctx context.Context, c client.Client, obj client.Object, fields map[string]any, fieldManager string) error {
	gvk, object := obj.GetObjectKind().GroupVersionKind(), described(obj)
	body, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", object, err)
	}
	err = c.Patch(ctx, obj, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(fieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("applying %s: %w", object, err)
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return noteRewrite(obj, fields, fieldManager)
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
