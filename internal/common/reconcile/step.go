package reconcile

import (
	"context"
	"slices"
)

// Step is one sub-reconciler: a named piece of work that owns a condition.
type Step[S any] struct {
	// Name identifies the step in Needs, in logs and in metrics.
	Name string
	// Condition is the condition type that the step owns. Consecutive steps may share
	// one: it is True when all of them are done, and otherwise reports the first that is
	// not. It may be Ready in a kind without other conditions; Ready then has the reasons
	// of the step.
	Condition string
	// Needs names the steps that have to be done (or have called Proceed) before
	// this one runs. They must be declared earlier.
	Needs []string
	// HeldBack is the reason with which the condition becomes False while one
	// of Needs is not met. Without it the condition keeps its last status.
	HeldBack string
	// Informational steps are reported but affect neither Ready nor the
	// step metrics.
	Informational bool
	// Announce lists reasons that are worth a Normal event when the step's
	// condition becomes True with them. Failures are always announced.
	Announce []string
	// Sets are the values that the step hands to later ones. Reads are those of earlier
	// steps that it uses. If a step runs although the one that sets a value was blocked
	// or failed, it finds the slot empty.
	Sets, Reads []Value
	// Run does the work. It must not change the conditions itself.
	Run func(ctx context.Context, scope S) Outcome
}

// Needing returns the step with further [Step.Needs].
func (s Step[S]) Needing(names ...string) Step[S] {
	s.Needs = slices.Concat(s.Needs, names)
	return s
}

// Reading returns the step with further [Step.Reads].
func (s Step[S]) Reading(values ...Value) Step[S] {
	s.Reads = slices.Concat(s.Reads, values)
	return s
}

// Finalizer is one ordered stage of deletion.
type Finalizer[S any] struct {
	// Name is the finalizer on the resource.
	Name string
	// Step cleans up what the finalizer protects; the finalizer is removed when the
	// step is done.
	Step Step[S]
}
