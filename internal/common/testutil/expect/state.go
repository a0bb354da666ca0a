package expect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// read fetches the object and returns its status.conditions, whatever its
// Go type is.
func read(ctx context.Context, c client.Client, obj client.Object) ([]metav1.Condition, error) {
	if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return nil, err
	}
	return Conditions(obj)
}

// Conditions returns status.conditions of an object of any Go type. An object
// without them has none.
func Conditions(obj client.Object) ([]metav1.Condition, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	var withConditions struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(data, &withConditions); err != nil {
		return nil, fmt.Errorf("read the conditions of %T: %w", obj, err)
	}
	return withConditions.Status.Conditions, nil
}

// State returns the conditions of the object and the events about it, one per
// line, for failure messages.
func State(t testing.TB, c client.Client, obj client.Object) string {
	t.Helper()
	// The state is also needed after the test's own context has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	defer cancel()
	var b strings.Builder
	conditions, err := read(ctx, c, obj)
	if err != nil {
		fmt.Fprintf(&b, "  no conditions: %v\n", err)
	}
	fmt.Fprintf(&b, "  generation %d\n", obj.GetGeneration())
	for _, condition := range conditions {
		fmt.Fprintf(&b, "  %s=%s/%s (generation %d): %s\n", condition.Type, condition.Status, condition.Reason,
			condition.ObservedGeneration, condition.Message)
	}
	events, err := events(ctx, c, obj)
	if err != nil {
		fmt.Fprintf(&b, "  no events: %v\n", err)
	}
	for _, e := range events {
		fmt.Fprintf(&b, "  event %s %s: %s\n", e.Type, e.Reason, e.Message)
	}
	return b.String()
}

// Event is the relevant part of an Event of either Event API.
type Event struct {
	Type, Reason, Message string
	// Count is how often the event occurred.
	Count int32
}

// Events returns the events about the object, oldest first. The API server
// stores both Event APIs as the same objects, so that one list has them all.
func Events(t testing.TB, c client.Client, obj client.Object) []Event {
	t.Helper()
	out, err := events(t.Context(), c, obj)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func events(ctx context.Context, c client.Client, obj client.Object) ([]Event, error) {
	full := &corev1.EventList{}
	if err := c.List(ctx, full, client.InNamespace(obj.GetNamespace())); err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	slices.SortStableFunc(full.Items, func(a, b corev1.Event) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), a.EventTime.Compare(b.EventTime.Time))
	})
	var out []Event
	for _, e := range full.Items {
		if e.InvolvedObject.UID != obj.GetUID() {
			continue
		}
		count := max(e.Count, 1)
		if e.Series != nil {
			count = max(count, e.Series.Count)
		}
		out = append(out, Event{Type: e.Type, Reason: e.Reason, Message: e.Message, Count: count})
	}
	return out, nil
}
