package operator

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// countingMapper serves what it has been given.
type countingMapper struct {
	*meta.DefaultRESTMapper

	asked int
}

func (m *countingMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.asked++
	return m.DefaultRESTMapper.RESTMapping(kind, versions...)
}

func TestTheRESTMappingOfAServedKindIsCached(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}
	served := &countingMapper{DefaultRESTMapper: meta.NewDefaultRESTMapper(nil)}
	mapper := remembering(served)
	for range 2 {
		if _, err := mapper.RESTMapping(kind.GroupKind(), kind.Version); !meta.IsNoMatchError(err) {
			t.Fatalf("a kind that is not served: got %v", err)
		}
	}
	served.Add(kind, meta.RESTScopeNamespace)
	for range 3 {
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil || mapping.Scope.Name() != meta.RESTScopeNameNamespace {
			t.Fatalf("got %+v, %v", mapping, err)
		}
	}
	if served.asked != 3 {
		t.Errorf("asked %d times, want twice in vain and once with success", served.asked)
	}
	if _, err := mapper.RESTMapping(kind.GroupKind(), "v2", kind.Version); err != nil {
		t.Errorf("with two versions: %v", err)
	}
	if _, err := mapper.RESTMapping(kind.GroupKind(), "v2"); !meta.IsNoMatchError(err) {
		t.Errorf("another version: got %v", err)
	}
}
