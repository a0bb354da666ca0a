package apitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// types writes a number where the spec has a string, as users do who forget quotes. Nothing
// of the answer may require knowledge of the operator's source.
func (k Kind[T]) types(t *testing.T, s *Server) {
	object := k.toMap(t, k.Minimal())
	path := replaceText(object["spec"], "spec")
	if path == "" { // A minimal object has no string.
		object = k.toMap(t, k.Complete[0]())
		path = replaceText(object["spec"], "spec")
	}
	raw := &unstructured.Unstructured{Object: object}
	raw.SetNamespace(s.Namespace)
	err := s.Create(t.Context(), raw)
	expect.Invalid(t, err, path, "string")
	if err != nil && strings.Contains(err.Error(), "Go ") {
		t.Errorf("the answer names a Go type: %v", err)
	}
}

// replaceText puts a number in the place of the first string, and returns its path.
func replaceText(value any, path string) string {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if _, text := v[name].(string); text {
				v[name] = int64(7)
				return path + "." + name
			}
			if found := replaceText(v[name], path+"."+name); found != "" {
				return found
			}
		}
	case []any:
		for i, entry := range v {
			if found := replaceText(entry, fmt.Sprintf("%s[%d]", path, i)); found != "" {
				return found
			}
		}
	}
	return ""
}
