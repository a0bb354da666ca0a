package apply

import (
	"encoding/json"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/digest"
)

// memoPeriod is how long an unused verdict is kept. Resources are reconciled
// more often, so that only verdicts on deleted objects expire.
const memoPeriod = time.Hour

// settled records which objects were found converged: in most passes nothing has changed,
// and comparing an object field by field is the most expensive part.
var settled memo

// memo maps objects to their last verdict. An object is identified by its UID and
// resource version, which are unique. The zero value is ready for use, also by several
// goroutines.
type memo struct {
	mu            sync.Mutex
	recent, older map[types.UID]verdict
	turned        time.Time
}

// verdict is a digest of the version of an object that needs no write and of the desired
// fields.
type verdict digest.Digest

// verdictOf returns the verdict, and false for an object that cannot be recorded.
func verdictOf(live, desired client.Object, fieldManager string) (verdict, bool) {
	body, err := json.Marshal(desired)
	if err != nil || live.GetUID() == "" || live.GetResourceVersion() == "" {
		return verdict{}, false
	}
	// JSON has no line breaks.
	return verdict(digest.Of(append(body, "\n"+fieldManager+"\n"+live.GetResourceVersion()...))), true
}

// has reports whether the verdict is the latest one about the object.
func (m *memo) has(uid types.UID, v verdict) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.recent[uid] == v {
		return true
	}
	if m.older[uid] != v {
		return false
	}
	m.recent[uid] = v
	return true
}

func (m *memo) note(uid types.UID, v verdict, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.recent == nil || now.Sub(m.turned) > memoPeriod {
		m.recent, m.older, m.turned = map[types.UID]verdict{}, m.recent, now
	}
	m.recent[uid] = v
}
