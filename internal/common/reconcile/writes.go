package reconcile

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// settleTime is the maximum age of unwritten conditions of a resource on its way to
// Ready. Nobody reads a status that lasts a fraction of that, and a status write costs
// the API server as much as writing the object that it reports on.
const settleTime = time.Second

// writes records when a status was last written. The zero value is ready for
// use, also by several goroutines.
type writes struct {
	mu   sync.Mutex
	last map[types.NamespacedName]time.Time
}

// note records a write.
func (w *writes) note(name types.NamespacedName, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[types.NamespacedName]time.Time{}
	}
	w.last[name] = now
}

// left returns the remaining settle time since the last write.
func (w *writes) left(name types.NamespacedName, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, known := w.last[name]
	// A clock that was set back must not delay a status write.
	if !known || now.Before(last) {
		return 0
	}
	return max(0, settleTime-now.Sub(last))
}

func (w *writes) forget(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, name)
}
