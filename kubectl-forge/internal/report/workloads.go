package report

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
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

// BuildWorkloads describes the namespace.
func BuildWorkloads(found *inventory.Inventory) Workloads {
	b := &builder{found}
	w := Workloads{Namespace: found.Namespace, Gaps: texts(found.Gaps)}
	for _, obj := range slices.Concat(inventory.Pointers(b.Deployments), inventory.Pointers(b.Jobs), inventory.Pointers(b.Pods)) {
		node := b.node(obj)
		if deployment, is := obj.(*appsv1.Deployment); is && deployment.Spec.Replicas != nil && *deployment.Spec.Replicas == 0 {
			node.exhibit = &Exhibit{
				Kind: node.Kind, Name: node.Name, Problem: "it is scaled to 0, so that it has no pods",
				remedy: "scale deployment " + node.Name + " --replicas=1",
			}
		}
		if node.exhibit != nil {
			w.LookAt = append(w.LookAt, *node.exhibit)
			w.Next = append(w.Next, node.exhibit.command(found.Namespace))
		}
	}
	w.Next = w.Next[:min(len(w.Next), maxCommands)]
	for _, event := range inventory.ByTime(b.Events) {
		if event.Type == corev1.EventTypeWarning {
			w.Events = append(w.Events, Event{
				At: metav1.NewTime(inventory.EventTime(&event)), Object: event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name,
				Reason: event.Reason, Message: strings.Join(strings.Fields(event.Message), " "),
			})
		}
	}
	w.Events = w.Events[max(0, len(w.Events)-maxEvents):]
	return w
}
