package running

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/recorder"
)

// announcements count the events that the operator has emitted, by the Go type that they are
// about, and by type and reason. They are written asynchronously.
type announcements struct {
	mu     sync.Mutex
	counts map[reflect.Type]map[string]int
}

func newAnnouncements() *announcements {
	return &announcements{counts: map[reflect.Type]map[string]int{}}
}

func (a *announcements) add(about runtime.Object, event string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kind := reflect.TypeOf(about)
	if a.counts[kind] == nil {
		a.counts[kind] = map[string]int{}
	}
	a.counts[kind][event]++
}

// listened is a manager whose recorders count events.
type listened struct {
	ctrl.Manager
	to *announcements
}

// GetEventRecorder returns the manager's recorder, which then counts.
func (l listened) GetEventRecorder(name string) recorder.EventRecorder {
	return &listener{l.Manager.GetEventRecorder(name), l.to}
}

type listener struct {
	recorder.EventRecorder
	to *announcements
}

// Eventf counts the event and passes it on.
func (l *listener) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	l.to.add(regarding, eventType+" "+reason)
	l.EventRecorder.Eventf(regarding, related, eventType, reason, action, note, args...)
}
