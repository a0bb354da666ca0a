package v1alpha1

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const configDir = "../../config"

// foreignTypes are the fields whose types belong to Kubernetes, which has its
// own rules for what is below them.
var foreignTypes = []string{
	"spec.networkPolicy.additionalEgress[0]", "spec.resources", "spec.strategy", "spec.topologySpreadConstraints[0]",
}

// node is one field of the schema. Its path has [0] for the entries of a list
// and [*] for those of a map.
type node struct {
	path   string
	schema apiextensionsv1.JSONSchemaProps
}

// specNodes returns every field of the schema of the CRD that a user writes.
func specNodes(t testing.TB) []node {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(configDir, "crd", "bases", "keystone.openstack.c5c3.io_keystones.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, crd); err != nil {
		t.Fatal(err)
	}
	root := *crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	nodes := []node{{"", root}}
	return append(nodes, below(node{"spec", root.Properties["spec"]})...)
}

func below(n node) []node {
	nodes := []node{n}
	if slices.Contains(foreignTypes, n.path) {
		return nodes
	}
	for _, name := range slices.Sorted(maps.Keys(n.schema.Properties)) {
		nodes = append(nodes, below(node{n.path + "." + name, n.schema.Properties[name]})...)
	}
	if n.schema.Items != nil {
		nodes = append(nodes, below(node{n.path + "[0]", *n.schema.Items.Schema})...)
	}
	if n.schema.AdditionalProperties != nil {
		nodes = append(nodes, below(node{n.path + "[*]", *n.schema.AdditionalProperties.Schema})...)
	}
	return nodes
}

// bound is one constraint of the schema that can be broken without knowing what
// the field means.
type bound struct {
	path, keyword string
	// broken is a value the constraint refuses; nil means that the field is
	// absent.
	broken any
	// message is a part of what the API server says.
	message string
}

func (b bound) String() string { return b.path + " " + b.keyword }

// limitsSize tells whether the bound is about length. Those stand in the schema
// alone: they bound the cost of its rules and the size of an object.
func (b bound) limitsSize() bool {
	return strings.HasPrefix(b.keyword, "max") && b.keyword != "maximum"
}

func bounds(t testing.TB) []bound {
	t.Helper()
	var all []bound
	for _, n := range specNodes(t) {
		if n.path != "" && !slices.Contains(foreignTypes, n.path) {
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
		found = append(found, bound{n.path, "minimum", int64(*n.schema.Minimum) - 1, tooSmall})
	}
	if n.schema.Maximum != nil {
		found = append(found, bound{n.path, "maximum", int64(*n.schema.Maximum) + 1, tooLarge})
	}
	return found
}

func (n node) texts() []bound {
	var found []bound
	if n.schema.MinLength != nil {
		found = append(found, bound{n.path, "minLength", "", "should be at least 1 chars long"})
	}
	if n.schema.MaxLength != nil {
		found = append(found, bound{n.path, "maxLength", strings.Repeat("a", int(*n.schema.MaxLength)+1), "Too long"})
	}
	if n.schema.Pattern != "" {
		found = append(found, bound{n.path, "pattern", " ,", noMatch})
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

// repeated stands for a list of so many entries like the first one.
type repeated struct{ times int }

// breakIn returns the complete Keystone with the bound broken.
func (b bound) breakIn(t testing.TB) *Keystone {
	t.Helper()
	k := &Keystone{}
	fromMap(t, b.brokenObject(t), k)
	return k
}

func (b bound) brokenObject(t testing.TB) map[string]any {
	t.Helper()
	for _, base := range []*Keystone{complete(), completeManaged()} {
		object := toMap(t, base)
		if b.apply(object) {
			return object
		}
	}
	t.Fatalf("%s: neither complete() nor completeManaged() has the field: set it there", b)
	return nil
}

// apply reports whether the object has the field.
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

// lookUp returns the map or list that holds the field at the path, and its key
// there.
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

func toMap(t testing.TB, k *Keystone) map[string]any {
	t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(k)
	if err != nil {
		t.Fatal(err)
	}
	object["apiVersion"], object["kind"] = GroupVersion.String(), "Keystone"
	delete(object, "status")
	return object
}

func fromMap(t testing.TB, object map[string]any, k *Keystone) {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, k); err != nil {
		t.Fatal(err)
	}
}

func sorted(texts []string) []string {
	slices.Sort(texts)
	return texts
}
