package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is a value that a user may set.
type value struct {
	path []string
	// about is its description, in one paragraph.
	about string
	// preset is its default.
	preset any
	// allowed are the allowed values, nil if they are not enumerated.
	allowed []any
}

func (v value) name() string { return strings.Join(v.path, ".") }

// readValues reads a values.yaml in which each value has a comment, or is in a
// group that has one, and that has exactly the values of the schema.
func readValues(content []byte, schema object) ([]value, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("not a mapping")
	}
	r := &reader{root: schema}
	r.read(document.Content[0], schema, nil, "")
	return r.values, errors.Join(r.problems...)
}

// reader collects values and their errors.
type reader struct {
	root     object
	values   []value
	problems []error
}

func (r *reader) fail(path []string, problem string) {
	r.problems = append(r.problems, fmt.Errorf("%s %s", strings.Join(path, "."), problem))
}

// read adds the values of a mapping. about is the comment of the group.
func (r *reader) read(mapping *yaml.Node, schema object, path []string, about string) {
	fields := properties(schema)
	seen := slices.Clone(setByHelm)
	for i := 0; i < len(mapping.Content); i += 2 {
		key, node := mapping.Content[i], mapping.Content[i+1]
		at := append(slices.Clone(path), key.Value)
		seen = append(seen, key.Value)
		field, known := fields[key.Value]
		if !known {
			r.fail(at, "is not in the schema")
			continue
		}
		r.readValue(node, field, at, cmp.Or(comment(key), about))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(seen, name) {
			r.fail(append(slices.Clone(path), name), "is in the schema but not in values.yaml: add it there")
		}
	}
}

// readValue adds a value, or those below it.
func (r *reader) readValue(node *yaml.Node, field any, at []string, about string) {
	resolved := resolve(r.root, field)
	if node.Kind == yaml.MappingNode && properties(resolved) != nil {
		r.read(node, resolved, at, about)
		return
	}
	r.add(at, node, resolved, about)
}

func (r *reader) add(path []string, node *yaml.Node, schema object, about string) {
	if about == "" {
		r.fail(path, "has no comment that says what it is for")
	}
	v := value{path: path, about: about}
	if err := node.Decode(&v.preset); err != nil {
		r.fail(path, err.Error())
	}
	v.allowed, _ = schema["enum"].([]any)
	r.values = append(r.values, v)
}

// comment returns the text of the comment above a key, without line breaks.
func comment(key *yaml.Node) string {
	lines := strings.Split(key.HeadComment, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#"))
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}
