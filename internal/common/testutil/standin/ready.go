package standin

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Ready simulates the controller of one kind, all of whose objects become ready.
type Ready struct{ *conditioned }

// NewReady returns a stand-in for [Run].
func NewReady(kind schema.GroupVersionKind) *Ready {
	return &Ready{&conditioned{kind: kind, reason: "Ready", script: newScript()}}
}

// Set sets the outcome for an object.
func (r *Ready) Set(namespace, name string, o Outcome) { r.script.set(namespace, name, o) }
