package apply

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Converged reports whether applying desired with fieldManager would leave
// live as it is.
func Converged(live, desired client.Object, fieldManager string) (bool, error) {
	entry := applied(live, fieldManager, desired.GetObjectKind().GroupVersionKind().GroupVersion().String())
	if entry == nil {
		return false, nil
	}
	owned, err := fieldsOf(live, entry)
	if err != nil {
		return false, err
	}
	has, condensed := condensedValues(entry)
	if !condensed {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
		if err != nil {
			return false, fmt.Errorf("converting %s: %w", kindOf(live), err)
		}
		has = valuesOf(owned, fields)
	}
	wanted, err := desiredFields(desired)
	if err != nil {
		return false, err
	}
	dropIdentity(wanted)
	return wants(owned, wanted, has), nil
}

// desiredFields returns what an apply of obj sends: without status and server-side
// metadata, and without the nulls that Go types emit for unset timestamps.
func desiredFields(obj client.Object) (map[string]any, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("converting %s %s: %w", kindOf(obj), client.ObjectKeyFromObject(obj), err)
	}
	delete(fields, "status")
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		for _, field := range []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"} {
			delete(metadata, field)
		}
	}
	dropNulls(fields)
	return fields, nil
}

// dropIdentity removes the fields that name the object; managedFields never
// lists them.
func dropIdentity(fields map[string]any) {
	delete(fields, "apiVersion")
	delete(fields, "kind")
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		delete(metadata, "name")
		delete(metadata, "namespace")
		if len(metadata) == 0 {
			delete(fields, "metadata")
		}
	}
}

func dropNulls(node any) {
	switch typed := node.(type) {
	case map[string]any:
		for key, child := range typed {
			if child == nil {
				delete(typed, key)
				continue
			}
			dropNulls(child)
		}
	case []any:
		for _, child := range typed {
			dropNulls(child)
		}
	}
}

func managedBy(live client.Object, fieldManager string) bool {
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == fieldManager {
			return true
		}
	}
	return false
}

// Owns reports whether fieldManager applied the field at the path of names.
func Owns(live client.Object, fieldManager, apiVersion string, names ...string) (bool, error) {
	entry := applied(live, fieldManager, apiVersion)
	if entry == nil {
		return false, nil
	}
	owned, err := fieldsOf(live, entry)
	if err != nil {
		return false, err
	}
	path := make(fieldpath.Path, 0, len(names))
	for _, name := range names {
		path = append(path, fieldpath.FieldNameElement(name))
	}
	return owned.Has(path), nil
}

// applied returns the managedFields entry of fieldManager's applies. It returns nil if
// the manager never applied this object, or did so at another API version.
func applied(live client.Object, fieldManager, apiVersion string) *metav1.ManagedFieldsEntry {
	written := live.GetManagedFields()
	for i := range written {
		if entry := &written[i]; isApplied(entry, fieldManager) && entry.APIVersion == apiVersion {
			return entry
		}
	}
	return nil
}

func isApplied(entry *metav1.ManagedFieldsEntry, fieldManager string) bool {
	return entry.Manager == fieldManager && entry.Operation == metav1.ManagedFieldsOperationApply &&
		entry.Subresource == "" && entry.FieldsV1 != nil
}

// fieldsOf returns the set of fields of an entry.
func fieldsOf(live client.Object, entry *metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if err := set.FromJSON(strings.NewReader(recorded(live, entry))); err != nil {
		return nil, fmt.Errorf("reading the managed fields of %s %s: %w", kindOf(live), client.ObjectKeyFromObject(live), err)
	}
	return set, nil
}

// children lists every path element directly below a node once; an element is a member,
// has children of its own, or both.
func children(owned *fieldpath.Set) []fieldpath.PathElement {
	elements := make([]fieldpath.PathElement, 0, owned.Members.Size())
	owned.Members.Iterate(func(element fieldpath.PathElement) { elements = append(elements, element) })
	owned.Children.Iterate(func(element fieldpath.PathElement) {
		if !owned.Members.Has(element) {
			elements = append(elements, element)
		}
	})
	return elements
}

func descend(node any, element fieldpath.PathElement) (any, bool) {
	switch {
	case element.FieldName != nil:
		fields, ok := node.(map[string]any)
		if !ok {
			return nil, false
		}
		child, ok := fields[*element.FieldName]
		return child, ok
	case element.Key != nil:
		return find(node, func(item any) bool { return hasKey(item, *element.Key) })
	case element.Value != nil:
		return find(node, func(item any) bool { return value.Equals(value.NewValueInterface(item), *element.Value) })
	case element.Index != nil:
		items, ok := node.([]any)
		if !ok || *element.Index >= len(items) {
			return nil, false
		}
		return items[*element.Index], true
	}
	return nil, false
}

func find(node any, matches func(any) bool) (any, bool) {
	items, _ := node.([]any)
	for _, item := range items {
		if matches(item) {
			return item, true
		}
	}
	return nil, false
}

// hasKey reports whether a list item has the key. A key field that the item omits counts
// as matching: the server filled in its default.
func hasKey(item any, key value.FieldList) bool {
	fields, ok := item.(map[string]any)
	if !ok {
		return false
	}
	found := false
	for _, field := range key {
		got, present := fields[field.Name]
		if !present {
			continue
		}
		if !value.Equals(value.NewValueInterface(got), field.Value) {
			return false
		}
		found = true
	}
	return found
}
