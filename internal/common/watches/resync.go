package watches

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Resync makes a controller reconcile all its resources after a change that no
// event of theirs reports, such as that of the kinds that the cluster serves.
type Resync chan event.GenericEvent

// NewResync returns a Resync without a pending request.
func NewResync() Resync { return make(Resync, 1) }

// Send requests a pass over every resource. It does not block: a request that
// is still pending covers all of them.
func (r Resync) Send() {
	select {
	case r <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{}}:
	default:
	}
}

// Source is the watch of a controller, in which all returns its resources.
func (r Resync) Source(all handler.MapFunc) source.Source {
	return source.Channel((<-chan event.GenericEvent)(r), handler.EnqueueRequestsFromMapFunc(all))
}
