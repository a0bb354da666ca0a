package reconcile

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// emitStepEvents emits the events of the steps. A failure while the operator is
// shutting down is caused by that, and says nothing about the resource.
func (p *pass[T, S]) emitStepEvents(ctx context.Context) {
	for _, result := range p.results {
		for _, event := range result.outcome.events {
			if event.Type == corev1.EventTypeWarning && ctx.Err() != nil {
				continue
			}
			p.emit(event.Type, event.Reason, result, event.Note)
		}
	}
}

func (p *pass[T, S]) emit(eventType, reason string, result stepResult, note string) {
	p.Recorder.Eventf(p.obj, nil, eventType, reason, result.actionName(), "%s", shorten(note, maxNote))
}

// emitTransitions emits events for what the status write has recorded, once per step,
// when its condition changes to a failure or to a reason that the step declares worth
// announcing.
func (p *pass[T, S]) emitTransitions() {
	for _, result := range p.results {
		for _, event := range result.outcome.recorded {
			p.emit(event.Type, event.Reason, result, event.Note)
		}
		if len(result.outcome.news) > 0 && isNews(p.previous, p.obj.GetConditions(), result) {
			for _, event := range result.outcome.news {
				p.emit(event.Type, event.Reason, result, event.Note)
			}
		}
		if result.skipped != "" || !changed(p.previous, p.obj.GetConditions(), result) {
			continue
		}
		for _, event := range result.outcome.transition {
			p.emit(event.Type, event.Reason, result, event.Note)
		}
		switch {
		case result.outcome.failed():
			p.emit(corev1.EventTypeWarning, result.outcome.reason, result, result.outcome.message)
		case result.outcome.IsDone() && result.announces():
			p.emit(corev1.EventTypeNormal, result.outcome.reason, result, result.outcome.message)
		}
	}
}

// changed reports whether this pass moved the step's condition to the step's
// outcome. Both sides come from the status, so that a restarted operator emits no
// event twice.
func changed(previous, current []metav1.Condition, result stepResult) bool {
	now := meta.FindStatusCondition(current, result.condition)
	if now == nil || now.Reason != result.outcome.reason {
		return false
	}
	then := meta.FindStatusCondition(previous, result.condition)
	return then == nil || then.Status != now.Status || then.Reason != now.Reason
}

// isNews reports whether this pass moved the step's condition to the step's
// outcome, including its message.
func isNews(previous, current []metav1.Condition, result stepResult) bool {
	now := meta.FindStatusCondition(current, result.condition)
	if now == nil || now.Reason != result.outcome.reason || now.Message != shorten(result.outcome.message, maxMessage) {
		return false
	}
	then := meta.FindStatusCondition(previous, result.condition)
	return then == nil || then.Status != now.Status || then.Reason != now.Reason || then.Message != now.Message
}
