package service

import (
	"context"

	"github.com/c5c3/forge/internal/common/reconcile"
)

// Scope is the scope of a service's pipeline: a [Pass], or a type that embeds one.
type Scope interface{ ServicePass() *Pass }

// Run adapts a step of this library to the scope of an operator's pipeline.
func Run[S Scope](step func(context.Context, *Pass) reconcile.Outcome) func(context.Context, S) reconcile.Outcome {
	return func(ctx context.Context, scope S) reconcile.Outcome { return step(ctx, scope.ServicePass()) }
}
