package kit

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/image"
	"github.com/c5c3/forge/internal/common/networking"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
)

// Stateless are the steps of a service, in passes of type S, that need no database.
type Stateless[S service.Scoped] struct{}

// Logging is the step [serviceconfig.ReportLogging].
func (Stateless[S]) Logging(ctx context.Context, s S) reconcile.Outcome {
	return serviceconfig.ReportLogging(ctx, s.ServicePass())
}

// NetworkPolicies is the step [networking.ReconcilePolicies].
func (Stateless[S]) NetworkPolicies(ctx context.Context, s S) reconcile.Outcome {
	return networking.ReconcilePolicies(ctx, s.ServicePass())
}

// Image is the step [image.Reconcile].
func (Stateless[S]) Image(ctx context.Context, s S) reconcile.Outcome {
	return image.Reconcile(ctx, s.ServicePass())
}

// Route is the step [networking.ReconcileRoute].
func (Stateless[S]) Route(ctx context.Context, s S) reconcile.Outcome {
	return networking.ReconcileRoute(ctx, s.ServicePass())
}

// Autoscaler is the step [deployment.ReconcileAutoscaler].
func (Stateless[S]) Autoscaler(ctx context.Context, s S) reconcile.Outcome {
	return deployment.ReconcileAutoscaler(ctx, s.ServicePass())
}

// Pods adds to the declaration of the pods what they have of the configuration. With the
// end of a rollout the release in the spec is installed.
func (Stateless[S]) Pods(api deployment.API[S]) deployment.API[S] {
	api.Backing = deployment.Backing{Prune: serviceconfig.Prune, Complete: install}
	return api
}

// install records the release that all pods run.
func install(_ context.Context, p *service.Pass) (news string, err error) {
	before, now := p.Status.InstalledRelease, p.Spec.Image.Tag
	p.Status.InstalledRelease = now
	if before == "" || before == now {
		return "", nil
	}
	return fmt.Sprintf("All pods run release %s in place of %s", now, before), nil
}
