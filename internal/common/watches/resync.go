package watches

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Resync lets a controller look at all its resources when something changed
// that no event of theirs tells about, such as the kinds that the cluster serves.
type Resync chan event.GenericEvent

// NewResync returns one on which nothing was sent.
func NewResync() Resync { return make(Resync, 1) }

// Send asks for a pass over every resource. It does not block: one request that
// is still pending reaches all of them.
func (r Resync) Send() {
	select {
	case r <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{}}:
	default:
	}
}

// Source is the watch of a controller whose resources all finds.
func (r Resync) Source(all handler.MapFunc) source.Source {
	return source.Channel((<-chan event.GenericEvent)(r), handler.EnqueueRequestsFromMapFunc(all))
}
