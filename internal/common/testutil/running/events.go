package running

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/recorder"
)

// announcements count the events that the operator has asked to be written, by
// type and reason. They are written later, beside the passes.
type announcements struct {
	mu     sync.Mutex
	counts map[string]int
}

// Announced returns how often the operator has announced each event, such as
// "Normal Rotated". Unlike the events of the API server it is complete at the end
// of each pass, and shows what did not happen.
func (o *Operator) Announced() map[string]int {
	o.announced.mu.Lock()
	defer o.announced.mu.Unlock()
	return maps.Clone(o.announced.counts)
}

// listened is a manager whose recorders count what they are given.
type listened struct {
	ctrl.Manager
	to *announcements
}

// GetEventRecorder is that of the manager, and counts.
func (l listened) GetEventRecorder(name string) recorder.EventRecorder {
	return &listener{l.Manager.GetEventRecorder(name), l.to}
}

type listener struct {
	recorder.EventRecorder
	to *announcements
}

// Eventf counts the event and passes it on.
func (l *listener) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	l.to.mu.Lock()
	l.to.counts[eventType+" "+reason]++
	l.to.mu.Unlock()
	l.EventRecorder.Eventf(regarding, related, eventType, reason, action, note, args...)
}
