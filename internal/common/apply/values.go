package apply

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"hash"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/c5c3/forge/internal/common/digest"
)

// values are digests of an object's fields that a manager owns: one of everything outside
// blocks, followed by one of each block that is owned as a whole, in the order of the
// fields. It is "" if the object lacks one of the fields.
type values string

// reader digests the values of one object.
type reader struct {
	sum    hash.Hash
	blocks []byte
	// open marks blocks, by position, in which no field is desired.
	open map[int]bool
	// exact rejects fields that are not owned.
	exact bool
}

// valuesOf returns the values of a live object.
func valuesOf(owned *fieldpath.Set, live any) values {
	r := &reader{sum: sha256.New()}
	if !r.read(owned, live, elsewhere) {
		return ""
	}
	return values(append(r.sum.Sum(nil)[:digest.Size:digest.Size], r.blocks...))
}

// wants reports whether the desired fields are exactly the owned ones, with the values of
// the live object.
func wants(owned *fieldpath.Set, desired any, has values) bool {
	r := &reader{sum: sha256.New(), open: map[int]bool{}, exact: true}
	if !r.read(owned, desired, elsewhere) || len(has) != digest.Size+len(r.blocks) {
		return false
	}
	if string(r.sum.Sum(nil)[:digest.Size]) != string(has[:digest.Size]) {
		return false
	}
	for i := 0; i < len(r.blocks); i += digest.Size {
		if !r.open[i] && string(r.blocks[i:i+digest.Size]) != string(has[digest.Size+i:2*digest.Size+i]) {
			return false
		}
	}
	return true
}

// read digests the values below one node of the owned set, and reports whether the object
// has all of its fields.
func (r *reader) read(owned *fieldpath.Set, node any, at place) bool {
	elements := children(owned)
	for _, element := range elements {
		child, present := descend(node, element)
		if !present {
			return false
		}
		below := at.below(node, element)
		subset, nested := owned.Children.Get(element)
		switch {
		case nested && !r.read(subset, child, below):
			return false
		case nested:
		case below == atImage:
			r.leaf("")
		default:
			r.leaf(child)
		}
	}
	// The number of fields is part of the digest, so that no value can move to another
	// field.
	r.add(len(elements))
	return !r.exact || len(elements) == size(node)
}

// leaf adds a field that is owned as a whole. An empty struct, which Go types emit for an
// unset block, claims the block but none of its contents: what the server or others set
// in it belongs to them.
func (r *reader) leaf(value any) {
	fields, isBlock := value.(map[string]any)
	if !isBlock {
		r.add(value)
		return
	}
	r.add(struct{}{})
	if r.exact && len(fields) == 0 {
		r.open[len(r.blocks)] = true
	}
	block := digest.Of(encoded(fields))
	r.blocks = append(r.blocks, block[:]...)
}

func (r *reader) add(value any) {
	// Writing to a hash never fails, and JSON has no line breaks.
	_, _ = r.sum.Write(append(encoded(value), '\n'))
}

// encoded returns the JSON of a value of an unstructured object, which always has one.
func encoded(value any) []byte {
	if list, isList := value.([]any); isList && len(list) == 0 {
		return []byte("[]")
	}
	text, _ := json.Marshal(value)
	return text
}

// text encodes the values for a string field.
func (v values) text() string { return base64.RawStdEncoding.EncodeToString([]byte(v)) }

func size(node any) int {
	switch typed := node.(type) {
	case map[string]any:
		return len(typed)
	case []any:
		return len(typed)
	}
	return 0
}
