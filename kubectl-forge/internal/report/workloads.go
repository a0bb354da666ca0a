package report

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// Workloads describe all pods, Jobs and Deployments of a namespace, regardless of their
// owners.
type Workloads struct {
	Namespace string `json:"namespace"`
	// LookAt are the faulty ones.
	LookAt []Exhibit `json:"lookAt,omitempty"`
	Next   []string  `json:"next,omitempty"`
	// Events are the latest warnings, the newest last.
	Events []Event  `json:"events,omitempty"`
	Gaps   []string `json:"gaps,omitempty"`
}

// Event is a warning about an object.
type Event struct {
	At      metav1.Time `json:"at"`
	Object  string      `json:"object"`
	Reason  string      `json:"reason"`
	Message string      `json:"message"`
}

// maxEvents bounds how many warnings are shown.
const maxEvents = 10

// BuildWorkloads describes the namespace.
func BuildWorkloads(found *inventory.Inventory) Workloads {
	b := &builder{Inventory: found}
	w := Workloads{Namespace: found.Namespace, Gaps: found.Gaps, Events: b.warningEvents()}
	add := func(exhibit *Exhibit) {
		if exhibit != nil {
			w.LookAt = append(w.LookAt, *exhibit)
		}
	}
	for i := range b.Deployments {
		add(deploymentExhibit(&b.Deployments[i]))
	}
	for i := range b.Jobs {
		add(b.jobExhibit(&b.Jobs[i]))
	}
	for i := range b.Pods {
		add(b.podExhibit(&b.Pods[i]))
	}
	for _, exhibit := range w.LookAt {
		w.Next = append(w.Next, inspect(found.Namespace, exhibit)...)
	}
	w.Next = w.Next[:min(len(w.Next), maxCommands)]
	return w
}

// warningEvents returns the latest warnings.
func (b *builder) warningEvents() []Event {
	warnings := slices.DeleteFunc(slices.Clone(b.Events), func(event corev1.Event) bool { return event.Type != corev1.EventTypeWarning })
	slices.SortStableFunc(warnings, func(x, y corev1.Event) int {
		return cmp.Or(inventory.EventTime(&x).Compare(inventory.EventTime(&y)), cmp.Compare(x.Name, y.Name))
	})
	events := make([]Event, 0, maxEvents)
	for i := max(0, len(warnings)-maxEvents); i < len(warnings); i++ {
		event := &warnings[i]
		events = append(events, Event{
			At:     metav1.NewTime(inventory.EventTime(event)),
			Object: event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name, Reason: event.Reason,
			Message: strings.Join(strings.Fields(event.Message), " "),
		})
	}
	return events
}
