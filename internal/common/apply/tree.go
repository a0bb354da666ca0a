package apply

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

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
		fields, _ := node.(map[string]any)
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
