package reconcile

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Object is what the engine requires of a custom resource.
type Object interface {
	client.Object
	// GetConditions returns the status conditions.
	GetConditions() []metav1.Condition
	// SetConditions replaces the status conditions.
	SetConditions(conditions []metav1.Condition)
	// SetObservedGeneration records the generation the status describes.
	SetObservedGeneration(generation int64)
	// StatusCopy returns a deep copy of the whole status for comparison.
	StatusCopy() any
}

// Reconciler runs a pipeline for one kind.
type Reconciler[T Object, S any] struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Recorder emits events on transitions.
	Recorder events.EventRecorder
	// Metrics may be nil.
	Metrics *Metrics
	// New returns an empty object of the kind.
	New func() T
	// Guard applies the defaults to the pass's copy and validates it, so that
	// an installation without webhooks stays safe. An error is shown as a
	// terminal InvalidSpec and nothing else happens.
	Guard func(T) error
	// Outdated describes what the spec has that a new resource could not have, "" if there is
	// nothing. Ready says it, whatever its status. It may be nil.
	Outdated func(T) string
	// Preflight returns why a resource must not be reconciled at all, and an empty
	// Refusal for any other. A refusal or an error becomes Ready, and nothing else
	// happens: not even finalizers are added. It may be nil.
	Preflight func(ctx context.Context, obj T) (Refusal, error)
	// Suspend stops what a paused resource controls and what would go on by itself, and Resume
	// lets it go on. Both may be nil.
	Suspend, Resume func(ctx context.Context, obj T) error
	// Hibernation is nil for a kind that cannot hibernate.
	Hibernation *Hibernation[T]
	// Scope builds the state that the steps of one pass share.
	Scope func(T) S
	// Pipeline are the steps.
	Pipeline Pipeline[S]
	// Summarise completes the rest of the status from the conditions of the
	// pass. It may be nil.
	Summarise func(T)
	// Finalizers are the stages of deletion, in order. All of them are added
	// before the first step runs.
	Finalizers []Finalizer[S]
	// Forget drops in-memory state and metric series of a deleted
	// resource. It may be nil.
	Forget func(types.NamespacedName)

	races Races
}

// Refusal is why a resource is not reconciled: the reason and the message of Ready.
type Refusal struct {
	Reason, Message string
	// After is when to look again if no watch reports a change, zero for never.
	After time.Duration
}

var _ ctrlreconcile.Reconciler = (*Reconciler[Object, any])(nil)

func (r *Reconciler[T, S]) forget(name types.NamespacedName) {
	if r.Forget != nil {
		r.Forget(name)
	}
}

// pass is the state of one run for one object.
type pass[T Object, S any] struct {
	*Reconciler[T, S]
	obj      T
	before   any
	previous []metav1.Condition
	results  []stepResult
}
