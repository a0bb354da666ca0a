package service

import (
	"context"

	"github.com/c5c3/forge/internal/common/reconcile"
)

// Scoped is what the pipeline of a service gives to its steps: a [Pass], or a [Scope] of
// one.
type Scoped interface {
	// ServicePass returns the pass, as the steps of this library use it.
	ServicePass() *Pass
}

// On is a step of this library, which takes the pass, for a pipeline of passes of type S.
func On[S Scoped](run func(ctx context.Context, p *Pass) reconcile.Outcome) func(ctx context.Context, s S) reconcile.Outcome {
	return func(ctx context.Context, s S) reconcile.Outcome { return run(ctx, s.ServicePass()) }
}

// Scope is a pass over a resource of type R, with the tools T that only its operator has.
type Scope[R Resource, T any] struct {
	*Pass

	// Resource is the resource of the pass.
	Resource R
	// Own are the tools of the operator.
	Own T
}

// NewScope returns a pass over the resource.
func NewScope[R Resource, T any](tools *Tools, definition *Definition, resource R, own T) *Scope[R, T] {
	return &Scope[R, T]{Pass: NewPass(tools, definition, resource), Resource: resource, Own: own}
}
