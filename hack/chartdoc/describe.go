package main

import (
	"maps"
)

// describe returns the schema with a title and with the description of each
// value from values.yaml, so that an editor shows it.
func describe(schema object, chart string, values []value) object {
	described := maps.Clone(schema)
	described["title"] = "Values of the " + chart + " chart"
	for _, v := range values {
		described = annotate(described, v.path, object{"description": v.about, "default": v.preset})
	}
	return described
}

// annotate returns the schema with annotations at a path. A reference has
// to be within "allOf" for that: in this draft keywords next to a reference are
// ignored.
func annotate(schema object, path []string, annotations object) object {
	changed := maps.Clone(schema)
	if len(path) == 0 {
		if ref, ok := changed["$ref"]; ok {
			delete(changed, "$ref")
			changed["allOf"] = []any{object{"$ref": ref}}
		}
		maps.Copy(changed, annotations)
		return changed
	}
	fields := maps.Clone(properties(schema))
	below, _ := fields[path[0]].(object)
	fields[path[0]] = annotate(below, path[1:], annotations)
	changed["properties"] = fields
	return changed
}
