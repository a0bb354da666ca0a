package inventory

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// LastWarning returns the latest warning about the object, nil when there is none.
func (i *Inventory) LastWarning(uid types.UID) *corev1.Event {
	for _, event := range slices.Backward(ByTime(i.Events)) {
		if event.InvolvedObject.UID == uid && event.Type == corev1.EventTypeWarning {
			return &event
		}
	}
	return nil
}

// EventTime returns when the event was last seen.
func EventTime(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	case !event.EventTime.IsZero():
		return event.EventTime.Time
	}
	return event.CreationTimestamp.Time
}

// ByTime orders events, the newest last.
func ByTime(events []corev1.Event) []corev1.Event {
	return slices.SortedStableFunc(slices.Values(events), func(x, y corev1.Event) int {
		return cmp.Or(EventTime(&x).Compare(EventTime(&y)), cmp.Compare(x.Name, y.Name))
	})
}
