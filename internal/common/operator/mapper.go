package operator

import (
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// rememberingMapper remembers where a kind is served. A cache that is limited to namespaces
// asks at each read, and the mapper of controller-runtime compares all kinds of the API
// group each time. That one does not forget a kind either: a kind that comes back
// with another scope needs a restart.
type rememberingMapper struct {
	meta.RESTMapper

	mu    sync.RWMutex
	found map[schema.GroupVersionKind]*meta.RESTMapping
}

func newMapper(cfg *rest.Config, c *http.Client) (meta.RESTMapper, error) {
	mapper, err := apiutil.NewDynamicRESTMapper(cfg, c)
	if err != nil {
		return nil, err
	}
	return remembering(mapper), nil
}

func remembering(mapper meta.RESTMapper) *rememberingMapper {
	return &rememberingMapper{RESTMapper: mapper, found: map[schema.GroupVersionKind]*meta.RESTMapping{}}
}

// RESTMapping returns where the kind is served, in the first of the versions that is.
func (m *rememberingMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) != 1 {
		return m.RESTMapper.RESTMapping(kind, versions...)
	}
	key := kind.WithVersion(versions[0])
	m.mu.RLock()
	known, ok := m.found[key]
	m.mu.RUnlock()
	if ok {
		return known, nil
	}
	mapping, err := m.RESTMapper.RESTMapping(kind, versions...)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found[key] = mapping
	return mapping, nil
}
