package apitest

import (
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
	path := firstText(object["spec"], "spec")
	if path == "" {
		t.Fatal("a minimal object has no string")
	}
	fields := strings.Split(path, ".")
	if err := unstructured.SetNestedField(object, int64(7), fields...); err != nil {
		t.Fatal(err)
	}
	raw := &unstructured.Unstructured{Object: object}
	raw.SetNamespace(s.Namespace)
	err := s.Create(t.Context(), raw)
	expect.Invalid(t, err, path, "string")
	if err != nil && strings.Contains(err.Error(), "Go ") {
		t.Errorf("the answer names a Go type: %v", err)
	}
}

// firstText returns the path of the first string that lies in objects only.
func firstText(value any, path string) string {
	switch v := value.(type) {
	case string:
		return path
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if found := firstText(v[name], path+"."+name); found != "" {
				return found
			}
		}
	}
	return ""
}
