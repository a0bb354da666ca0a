package apitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// node is a field of the schema. Its path uses [0] for the entries of a list and
// [*] for those of a map.
type node struct {
	path   string
	schema apiextensionsv1.JSONSchemaProps
}

// nodes returns every field of the schema that users set.
func (k Kind[T]) nodes(t testing.TB) []node {
	t.Helper()
	root := *k.definition(t).Spec.Versions[0].Schema.OpenAPIV3Schema
	return append([]node{{"", root}}, k.below(node{"spec", root.Properties["spec"]})...)
}

func (k Kind[T]) below(n node) []node {
	if slices.Contains(k.SharedFields, n.path) {
		return nil
	}
	nodes := []node{n}
	if slices.Contains(k.KubernetesFields, n.path) {
		return nodes
	}
	for _, name := range slices.Sorted(maps.Keys(n.schema.Properties)) {
		nodes = append(nodes, k.below(node{n.path + "." + name, n.schema.Properties[name]})...)
	}
	if n.schema.Items != nil {
		nodes = append(nodes, k.below(node{n.path + "[0]", *n.schema.Items.Schema})...)
	}
	if n.schema.AdditionalProperties != nil {
		nodes = append(nodes, k.below(node{n.path + "[*]", *n.schema.AdditionalProperties.Schema})...)
	}
	return nodes
}

// bound is a constraint of the schema that can be violated without knowing the
// meaning of the field.
type bound struct {
	path, keyword string
	// broken is a value that violates the constraint; nil means that the field is
	// omitted.
	broken any
	// message is a part of the API server's message.
	message string
}

func (b bound) String() string { return b.path + " " + b.keyword }

// limitsSize reports whether the bound limits a length. Such bounds are in the
// schema only: they limit the cost of its rules and the size of an object.
func (b bound) limitsSize() bool {
	return strings.HasPrefix(b.keyword, "max") && b.keyword != "maximum"
}

func (k Kind[T]) bounds(t testing.TB) []bound {
	t.Helper()
	var all []bound
	for _, n := range k.nodes(t) {
		if n.path != "" && !slices.Contains(k.KubernetesFields, n.path) {
			all = append(all, n.numbers()...)
			all = append(all, n.texts()...)
			all = append(all, n.collections()...)
		}
	}
	return all
}

func (n node) numbers() []bound {
	var found []bound
	if n.schema.Minimum != nil {
		found = append(found, bound{n.path, "minimum", int64(*n.schema.Minimum) - 1, TooSmall})
	}
	if n.schema.Maximum != nil {
		found = append(found, bound{n.path, "maximum", int64(*n.schema.Maximum) + 1, TooLarge})
	}
	return found
}

func (n node) texts() []bound {
	var found []bound
	if n.schema.MinLength != nil {
		found = append(found, bound{n.path, "minLength", "", TooShort})
	}
	if n.schema.MaxLength != nil {
		found = append(found, bound{n.path, "maxLength", strings.Repeat("a", int(*n.schema.MaxLength)+1), "Too long"})
	}
	if n.schema.Pattern != "" {
		found = append(found, bound{n.path, "pattern", " ,", NoMatch})
	}
	if len(n.schema.Enum) > 0 {
		found = append(found, bound{n.path, "enum", "unknown", "Unsupported value"})
	}
	return found
}

func (n node) collections() []bound {
	var found []bound
	if n.schema.MaxItems != nil {
		found = append(found, bound{n.path, "maxItems", repeated{int(*n.schema.MaxItems) + 1}, "Too many"})
	}
	if n.schema.MaxProperties != nil {
		entries := map[string]any{}
		for i := range *n.schema.MaxProperties + 1 {
			entries[fmt.Sprint("entry-", i)] = "text"
		}
		found = append(found, bound{n.path, "maxProperties", entries, "Too many"})
	}
	for _, name := range n.schema.Required {
		found = append(found, bound{n.path + "." + name, "required", nil, "Required value"})
	}
	return found
}

// repeated is a list in which the first entry occurs the given number of times.
type repeated struct{ times int }

// broken returns a complete object that violates the bound, and its index in
// Complete.
func (k Kind[T]) broken(t testing.TB, b bound) (object map[string]any, index int) {
	t.Helper()
	for i, complete := range k.Complete {
		object := k.toMap(t, complete())
		if b.apply(object) {
			return object, i
		}
	}
	t.Fatalf("%s: no complete object has the field: set it in one of them", b)
	return nil, 0
}

// apply sets the violating value and reports whether the object has the field.
func (b bound) apply(object map[string]any) bool {
	holder, key, found := lookUp(object, b.path)
	if !found {
		return false
	}
	list, isList := holder.([]any)
	if isList {
		list[0] = b.broken
		return true
	}
	fields := holder.(map[string]any)
	switch value := b.broken.(type) {
	case nil:
		delete(fields, key)
	case repeated:
		fields[key] = slices.Repeat(fields[key].([]any), value.times)[:value.times]
	default:
		fields[key] = value
	}
	return true
}

// lookUp returns the map or list that contains the field at the path, and the key
// of the field in it.
func lookUp(object map[string]any, path string) (holder any, key string, found bool) {
	var current any = object
	for segment := range strings.SplitSeq(strings.ReplaceAll(path, "[", ".["), ".") {
		holder, key = current, segment
		switch in := holder.(type) {
		case map[string]any:
			if segment == "[*]" {
				key = slices.Sorted(maps.Keys(in))[0]
			}
			current, found = in[key]
		case []any:
			found = len(in) > 0
			if found {
				current = in[0]
			}
		default:
			found = false
		}
		if !found {
			return nil, "", false
		}
	}
	return holder, key, true
}

func valueAt(object map[string]any, path string) (any, bool) {
	holder, key, found := lookUp(object, path)
	if !found {
		return nil, false
	}
	if list, isList := holder.([]any); isList {
		return list[0], true
	}
	return holder.(map[string]any)[key], true
}
