package conformance

import (
	"context"
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Kind describes a kind and the operator that reconciles it. T is a pointer to the Go type of
// the kind.
type Kind[T reconcile.Object] struct {
	// Program is the operator, with a trigger for passes over the resource.
	Program running.Program
	// Vocabulary lists the conditions, reasons and events of the kind.
	Vocabulary vocabulary.Kind

	// New returns a resource that converges.
	New func(namespace string) T
	// Inputs returns the objects that New refers to. It may also tell stand-ins what the
	// operator needs.
	Inputs func(namespace string) []client.Object
	// Remains returns what an operator has left of the resource before; it may be nil.
	Remains func(resource T) []client.Object
	// Prepared returns nil once the operator has done with the inputs what has to precede the
	// resource; nil means that nothing has to.
	Prepared func(ctx context.Context, namespace string) error
	// Settled returns nil if nothing is left to do for a resource whose conditions are True;
	// nil means that the conditions suffice.
	Settled func(ctx context.Context, namespace string) error
	// Observe returns by what a run is judged, independent of the name of the namespace.
	Observe func(ctx context.Context, namespace string) (any, error)
	// Compare returns what is wrong with the final state, as in [crashwalk.Scenario]; nil means
	// each difference from the undisturbed run.
	Compare func(undisturbed, failed, final any) string
	// Gone returns nil if a deletion has left nothing that has to go with the resource, and Left
	// what it has left so far.
	Gone func(ctx context.Context, namespace string) error
	Left func(ctx context.Context, namespace string) (any, error)

	// Reasons are those of True conditions that are not the first of the vocabulary.
	Reasons map[string]string
	// Writes are the writes of each run on the way of the resource, and DeletionWrites those of
	// its deletion, with the minimum number of times, in the format of [transport.Call]. Without
	// DeletionWrites the operator has no part in a deletion.
	Writes, DeletionWrites map[string]int
	// StatusWrites is the maximum number of status writes on that way.
	StatusWrites int
	// Events are those on that way, as in "Normal DatabaseSynced".
	Events []string
	// Watches are the resources that the operator watches, as in "cronjobs.batch".
	Watches []string
	// Drifts are changes to owned objects, which the operator puts right.
	Drifts []Drift
	// PausedWith are the objects that the operator pauses together with the resource.
	PausedWith []client.Object
	// Hibernation is nil for a kind that cannot hibernate.
	Hibernation *Hibernation[T]
	// Obstructions returns foreign objects with the names of objects that the operator creates.
	Obstructions func(t *testing.T, namespace string) []Obstruction
	// Refusals are calls that the API server may refuse.
	Refusals []Refusal
	// Long leaves the crash walks to runs without -short, because those of another kind take the
	// same code through a crash.
	Long bool

	probe func(api *running.API) probe.Doer
}

// Refusal is a call that the API server refuses, and the condition that reports it.
type Refusal struct {
	Verb, Resource, Name string
	Condition, Reason    string

	matches func(transport.Request) bool
}

func (r Refusal) refuses(call transport.Request) bool {
	if r.matches != nil {
		return r.matches(call)
	}
	return call.Verb == r.Verb && call.Resource == r.Resource && call.Name == r.Name && call.Subresource == ""
}

// abnormal are the types of the conditions that are only present while they are True.
var abnormal = vocabulary.Types(vocabulary.Abnormal())

// positive returns the conditions that are True if nothing is wrong.
func (k Kind[T]) positive() []vocabulary.Condition {
	return slices.DeleteFunc(slices.Clone(k.Vocabulary.Conditions), func(c vocabulary.Condition) bool {
		return slices.Contains(abnormal, c.Type)
	})
}
