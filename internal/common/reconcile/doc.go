// Package reconcile is the step engine that runs every operator of this
// repository.
//
// A controller declares an ordered list of steps. Each step names the one
// condition it owns, the steps it needs first, and a function that looks at
// the world and returns an Outcome. Everything around the step — gating,
// conditions, observedGeneration, Ready, events, metrics, finalizers, the
// single status write and the result handed to controller-runtime — is the
// engine's, so that a step cannot forget any of it.
package reconcile
