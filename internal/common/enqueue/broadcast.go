package enqueue

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Broadcast lets a controller look at all its resources when something changed
// that no event of theirs tells about, such as the kinds that the cluster serves.
type Broadcast chan event.GenericEvent

// NewBroadcast returns a broadcast that nothing was sent on.
func NewBroadcast() Broadcast { return make(Broadcast, 1) }

// Send asks for a pass over every resource. It does not block: one request that
// is still pending reaches all of them.
func (b Broadcast) Send() {
	select {
	case b <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{}}:
	default:
	}
}

// Source is the watch of a controller whose resources all finds.
func (b Broadcast) Source(all handler.MapFunc) source.Source {
	return source.Channel((<-chan event.GenericEvent)(b), handler.EnqueueRequestsFromMapFunc(all))
}
