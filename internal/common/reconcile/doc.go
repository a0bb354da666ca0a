// Package reconcile is the step engine that runs every operator of this
// repository.
//
// A controller declares an ordered list of steps. Each step names the one
// condition it owns, the steps it depends on, and a function that inspects
// the current state and returns an Outcome. The engine does everything around the
// step: gating, conditions, observedGeneration, Ready, events, metrics, finalizers,
// the single status write and the result for controller-runtime, so that a step
// cannot forget any of it. The file pass.go has what happens in one pass, in order.
package reconcile
