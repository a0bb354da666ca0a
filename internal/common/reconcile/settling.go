package reconcile

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/vocabulary"
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

// settles returns for how long the status of this pass may remain unwritten, 0 if it must
// be written now.
func (p *pass[T, S]) settles() time.Duration {
	switch {
	case equality.Semantic.DeepEqual(p.before, p.obj.StatusCopy()),
		isReady(p.previous), isReady(p.obj.GetConditions()),
		slices.ContainsFunc(p.results, stepResult.insists),
		!p.mayWait():
		return 0
	}
	return p.written.left(client.ObjectKeyFromObject(p.obj), p.now())
}

// insists reports whether the result must be written immediately: a failure, or an event
// that the next pass may not see again.
func (r stepResult) insists() bool {
	o := r.outcome
	return o.failed() || o.atOnce || len(o.transition) > 0 || len(o.news) > 0 || len(o.recorded) > 0
}

// mayWait reports whether the status differs only in its conditions and in what
// the next pass recomputes. Later passes depend on everything else.
func (p *pass[T, S]) mayWait() bool {
	later, ok := p.obj.DeepCopyObject().(T)
	if !ok {
		return false
	}
	later.SetConditions(p.previous)
	if p.reset != nil {
		p.reset(later)
	}
	return equality.Semantic.DeepEqual(p.before, later.StatusCopy())
}

func isReady(conditions []metav1.Condition) bool {
	return meta.IsStatusConditionTrue(conditions, vocabulary.ConditionReady)
}
