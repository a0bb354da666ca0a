package conformance

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
)

// Walk kills the operator at each of its writes after a change to a resource that has
// converged. The scenario says what such a change leads to; how the operator is started follows
// from the description of the service. It settles once the resource has converged, too.
func Walk[T service.Resource, O any](t *testing.T, s Service[T], w *World, change func(T), scenario crashwalk.Scenario[O]) {
	t.Helper()
	trial := suite[T]{s, w}.trial(t, brownfield)
	settled := scenario.Settled
	scenario.Config, scenario.Operator = w.AsOperator, trial.Operate
	scenario.Prepare = func(ctx context.Context) (string, error) {
		return trial.Changed(ctx, func(ctx context.Context, namespace string) error {
			resource := trial.New(namespace)
			if err := w.Admin.Get(ctx, client.ObjectKeyFromObject(resource), resource); err != nil {
				return err
			}
			changed := resource.DeepCopyObject().(T)
			change(changed)
			return w.Admin.Patch(ctx, changed, client.MergeFrom(resource))
		})
	}
	scenario.Settled = func(ctx context.Context, namespace string) error {
		if err := settled(ctx, namespace); err != nil {
			return err
		}
		return trial.Converged(ctx, namespace)
	}
	crashwalk.Walk(t, scenario)
}
