package services

import (
	"context"
	"slices"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Steps returns one step for each of the given services.
func (all List) Steps(some List) reconcile.Pipeline[*pass.Pass] {
	steps := make(reconcile.Pipeline[*pass.Pass], 0, len(some))
	for _, svc := range some {
		step := reconcile.Step[*pass.Pass]{
			Name: svc.Kind.Kind, Condition: svc.condition, Needs: svc.needs, HeldBack: svc.heldBack,
			Run:  func(ctx context.Context, s *pass.Pass) reconcile.Outcome { return all.reconcile(ctx, s, svc) },
			Sets: []reconcile.Value{updateUnderWay},
		}
		if svc.domains != nil {
			step.Sets = append(step.Sets, identityDomains)
		} else {
			step.Reads = append(step.Reads, identityDomains)
		}
		if svc.hasUser {
			step.Reads = append(step.Reads, pass.PasswordCloud, pass.AdminPassword)
		}
		steps = append(steps, step)
	}
	return steps
}

// Finalizers remove the services with a database, the Identity service last because the
// others log in to it.
func (all List) Finalizers() []reconcile.Finalizer[*pass.Pass] {
	var stages []reconcile.Finalizer[*pass.Pass]
	for _, svc := range slices.Backward(all.withDatabase()) {
		stages = append(stages, reconcile.Finalizer[*pass.Pass]{
			Name: svc.Database.finalizer,
			Step: reconcile.Step[*pass.Pass]{Name: svc.Kind.Kind, Condition: svc.condition, Run: svc.finalize},
		})
	}
	return stages
}
