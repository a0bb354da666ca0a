package apply

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// ownedByAll returns the fields of all managers of a live object.
func ownedByAll(live *unstructured.Unstructured) (*fieldpath.Set, error) {
	all := fieldpath.NewSet()
	entries := live.GetManagedFields()
	for i := range entries {
		if entries[i].FieldsV1 == nil {
			continue
		}
		fields, err := fieldsOf(live, &entries[i])
		if err != nil {
			return nil, err
		}
		all = all.Union(fields)
	}
	return all, nil
}

// foreign returns the fields and list items of the spec that are not desired, in maps and
// lists with desired ones.
func (r *refused) foreign() []fieldpath.Path {
	spec := fieldpath.FieldNameElement("spec")
	return foreignBelow(r.owned.WithPrefix(spec), r.live.Object["spec"], r.desired["spec"], fieldpath.Path{spec})
}

// foreignBelow returns the foreign fields and items below a path. The owned fields say which
// lists have items with keys.
func foreignBelow(owned *fieldpath.Set, live, desired any, path fieldpath.Path) (found []fieldpath.Path) {
	for _, element := range elements(owned, live) {
		child, _ := descend(live, element)
		wanted, both := descend(desired, element)
		at := append(path.Copy(), element)
		switch {
		case both:
			found = append(found, foreignBelow(owned.WithPrefix(element), child, wanted, at)...)
		case desired != nil:
			found = append(found, at)
		}
	}
	return found
}

// elements returns the fields of a map and the items of a list with keys, none for anything
// else.
func elements(owned *fieldpath.Set, node any) (found []fieldpath.PathElement) {
	if fields, isMap := node.(map[string]any); isMap {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			found = append(found, fieldpath.FieldNameElement(name))
		}
		return found
	}
	for _, element := range children(owned) {
		if _, there := descend(node, element); there && element.Key != nil {
			found = append(found, element)
		}
	}
	return found
}

// merged returns the live object with the desired fields and without the paths.
func (r *refused) merged(without []fieldpath.Path) map[string]any {
	live := runtime.DeepCopyJSON(r.live.Object)
	for _, path := range without {
		remove(live, path)
	}
	merged, _ := overlay(r.owned, live, runtime.DeepCopyJSON(r.desired)).(map[string]any)
	return merged
}

// remove removes a field or a list item, and returns the changed node.
func remove(node any, path fieldpath.Path) any {
	element, rest := path[0], path[1:]
	switch typed := node.(type) {
	case map[string]any:
		switch child, there := descend(typed, element); {
		case !there:
		case len(rest) == 0:
			delete(typed, *element.FieldName)
		default:
			typed[*element.FieldName] = remove(child, rest)
		}
	case []any:
		i := slices.IndexFunc(typed, func(item any) bool { return element.Key != nil && hasKey(item, *element.Key) })
		switch {
		case i < 0:
		case len(rest) == 0:
			return slices.Delete(typed, i, i+1)
		default:
			typed[i] = remove(typed[i], rest)
		}
	}
	return node
}

// overlay merges desired fields into live ones. Lists without keys are replaced.
func overlay(owned *fieldpath.Set, live, desired any) any {
	switch wanted := desired.(type) {
	case map[string]any:
		fields, isMap := live.(map[string]any)
		if !isMap {
			return desired
		}
		for name, value := range wanted {
			fields[name] = overlay(owned.WithPrefix(fieldpath.FieldNameElement(name)), fields[name], value)
		}
		return fields
	case []any:
		items, isList := live.([]any)
		keyed := elements(owned, live)
		if !isList || len(keyed) == 0 {
			return desired
		}
		for _, item := range wanted {
			items = overlayItem(owned, keyed, items, item)
		}
		return items
	}
	return desired
}

// overlayItem merges a desired item into the one with the same key, or adds it.
func overlayItem(owned *fieldpath.Set, keyed []fieldpath.PathElement, items []any, item any) []any {
	for _, element := range keyed {
		i := slices.IndexFunc(items, func(live any) bool { return hasKey(live, *element.Key) })
		if i >= 0 && hasKey(item, *element.Key) {
			items[i] = overlay(owned.WithPrefix(element), items[i], item)
			return items
		}
	}
	return append(items, item)
}

// leaves returns everything at and below the paths that a manager can own.
func (r *refused) leaves(paths []fieldpath.Path) *fieldpath.Set {
	all := fieldpath.NewSet()
	for _, path := range paths {
		owned, node := r.owned, any(r.live.Object)
		for _, element := range path {
			node, _ = descend(node, element)
			owned = owned.WithPrefix(element)
		}
		addLeaves(all, owned, node, path)
	}
	return all
}

func addLeaves(all, owned *fieldpath.Set, node any, path fieldpath.Path) {
	below := elements(owned, node)
	if isItem := path[len(path)-1].Key != nil; isItem || len(below) == 0 {
		all.Insert(path.Copy())
	}
	for _, element := range below {
		child, _ := descend(node, element)
		addLeaves(all, owned.WithPrefix(element), child, append(path.Copy(), element))
	}
}
