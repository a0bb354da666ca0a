package reconcile

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

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
