package main

import (
	"maps"
	"slices"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// setByHelm are properties that Helm sets, so that no chart has them in its values.yaml.
var setByHelm = []string{"global", "operator-library"}

// merge returns base with the content of added: objects are merged, lists are appended,
// and anything else is replaced.
func merge(base, added object) object {
	merged := maps.Clone(base)
	for key, value := range added {
		switch value := value.(type) {
		case object:
			if below, ok := merged[key].(object); ok {
				merged[key] = merge(below, value)
				continue
			}
		case []any:
			if list, ok := merged[key].([]any); ok {
				merged[key] = append(slices.Clone(list), value...)
				continue
			}
		}
		merged[key] = value
	}
	return merged
}

// properties returns the schemas of the fields of an object, nil if the schema
// does not restrict them.
func properties(schema object) object {
	fields, _ := schema["properties"].(object)
	return fields
}

// resolve follows a reference to a definition of the root.
func resolve(root object, schema any) object {
	own, _ := schema.(object)
	ref, ok := own["$ref"].(string)
	if !ok {
		return own
	}
	definitions, _ := root["definitions"].(object)
	found, _ := definitions[strings.TrimPrefix(ref, "#/definitions/")].(object)
	return found
}
