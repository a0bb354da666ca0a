package apply

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Some fields exclude each other: a PodDisruptionBudget has minAvailable or maxUnavailable, a
// volume has one source. An apply leaves the fields of other managers and the defaults of the
// API server alone, so the API server refuses an applied field beside one that it excludes.
// The functions of this file find those fields and take them over, so that the next apply
// removes them.

// refused is an apply that the API server has refused as invalid.
type refused struct {
	client  client.Client
	live    *unstructured.Unstructured
	desired map[string]any
	// owned are the fields of all managers.
	owned *fieldpath.Set
}

// takeOverExclusive makes fieldManager the only owner of the fields of others without which
// the API server accepts the desired ones. It returns the refusal if there are none.
func takeOverExclusive(
	ctx context.Context, c client.Client, obj client.Object, desired map[string]any, fieldManager string, refusal error,
) error {
	live, err := lookUp(ctx, c, client.ObjectKeyFromObject(obj), obj)
	if live == nil || err != nil || applied(live, fieldManager, live.GetAPIVersion()) == nil {
		return errors.Join(refusal, err)
	}
	r := &refused{client: c, live: live, desired: desired}
	if r.owned, err = ownedByAll(live); err != nil {
		return err
	}
	paths := slices.DeleteFunc(r.foreign(), func(path fieldpath.Path) bool { return !concerns(refusal, path) })
	paths, err = r.exclusive(ctx, paths)
	switch {
	case err != nil:
		return err
	case len(paths) == 0:
		return refusal
	}
	return r.takeOver(ctx, paths, fieldManager)
}

// exclusive returns those of the paths without which the API server accepts the desired
// fields, none if it does not accept them without any of the paths.
func (r *refused) exclusive(ctx context.Context, paths []fieldpath.Path) ([]fieldpath.Path, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	if accepted, err := r.acceptedWithout(ctx, paths); !accepted {
		return nil, err
	}
	for i := 0; i < len(paths); {
		fewer := slices.Delete(slices.Clone(paths), i, i+1)
		accepted, err := r.acceptedWithout(ctx, fewer)
		switch {
		case err != nil:
			return nil, err
		case accepted:
			paths = fewer
		default:
			i++
		}
	}
	return paths, nil
}

// acceptedWithout asks the API server whether it accepts the desired fields if the paths are
// removed.
func (r *refused) acceptedWithout(ctx context.Context, paths []fieldpath.Path) (bool, error) {
	err := r.change(ctx, &unstructured.Unstructured{Object: r.merged(paths)}, "trying fields of", client.DryRunAll)
	if apierrors.IsInvalid(err) {
		return false, nil
	}
	return err == nil, err
}

// change writes what differs from the live object. The client must not wait for a cache of
// unstructured objects.
func (r *refused) change(ctx context.Context, changed *unstructured.Unstructured, doing string, options ...client.PatchOption) error {
	patch := client.MergeFromWithOptions(r.live, client.MergeFromWithOptimisticLock{})
	return Patch(ctx, r.client, changed, patch, doing, append(options, client.DisableReadYourWritesConsistency)...)
}

// takeOver makes fieldManager the only owner of everything at and below the paths.
func (r *refused) takeOver(ctx context.Context, paths []fieldpath.Path, fieldManager string) error {
	version := r.live.GetAPIVersion()
	taken := fieldpath.NewSet(paths...)
	changed := r.live.DeepCopy()
	var entries []metav1.ManagedFieldsEntry
	for _, entry := range r.live.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		fields, err := fieldsOf(r.live, &entry)
		if err != nil {
			return err
		}
		if fields = fields.RecursiveDifference(taken); isApplied(&entry, fieldManager) && entry.APIVersion == version {
			fields = fields.Union(r.leaves(paths))
		}
		text, err := fields.ToJSON()
		if err != nil {
			return failed("writing the managed fields of", described(r.live), err)
		}
		if entry.FieldsV1 = metav1.NewFieldsV1(string(text)); !fields.Empty() {
			entries = append(entries, entry)
		}
	}
	changed.SetManagedFields(entries)
	return r.change(ctx, changed, "taking over fields of")
}

// itemKey is the index or the key of a list item in the path of an error.
var itemKey = regexp.MustCompile(`\[[^]]*\]`)

// concerns reports whether an error of the API server is about the field or the list item,
// those beside it, or what contains them.
func concerns(refusal error, path fieldpath.Path) bool {
	var status apierrors.APIStatus
	if !errors.As(refusal, &status) || status.Status().Details == nil {
		return false
	}
	parent := namesOf(path[:len(path)-1])
	for _, cause := range status.Status().Details.Causes {
		at := itemKey.ReplaceAllString(cause.Field, "")
		if at == parent || at[:max(strings.LastIndexByte(at, '.'), 0)] == parent {
			return true
		}
	}
	return false
}

// namesOf returns the names of the fields of the path, with dots.
func namesOf(path fieldpath.Path) string {
	var names []string
	for _, element := range path {
		if element.FieldName != nil {
			names = append(names, *element.FieldName)
		}
	}
	return strings.Join(names, ".")
}
