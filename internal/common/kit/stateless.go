package kit

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/health"
	"github.com/c5c3/forge/internal/common/image"
	"github.com/c5c3/forge/internal/common/networking"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
	"github.com/c5c3/forge/internal/common/serviceuser"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Stateless are the steps of a service, in passes of type S, that need no database. A service adds
// to them what it needs in addition, with [reconcile.Step.Needing] and [reconcile.Step.Reading].
type Stateless[S service.Scoped] struct{}

// Configuration is a declared configuration: [serviceconfig.Settings] or [serviceconfig.Files].
type Configuration[S any] interface {
	// Reconcile writes it, ReconcileCheck tries it with the image.
	Reconcile(ctx context.Context, s S) reconcile.Outcome
	ReconcileCheck(ctx context.Context, s S) reconcile.Outcome
}

// Config writes the configuration.
func (Stateless[S]) Config(settings Configuration[S]) reconcile.Step[S] {
	return reconcile.Step[S]{
		Name: "Config", Condition: vocabulary.ConditionSecretsReady, Run: settings.Reconcile,
		Sets: []reconcile.Value{service.Config},
	}
}

// ConfigCheck tries the configuration with the image.
func (Stateless[S]) ConfigCheck(settings Configuration[S]) reconcile.Step[S] {
	return afterConfig(reconcile.Step[S]{
		Name: "ConfigCheck", Condition: vocabulary.ConditionSecretsReady, Run: settings.ReconcileCheck,
	})
}

// Logging reports what the settings of the logs leave out, see [serviceconfig.ReportLogging].
func (Stateless[S]) Logging() reconcile.Step[S] {
	return afterConfig(reconcile.Step[S]{
		Name: "Logging", Condition: vocabulary.ConditionLoggingHealthy, Run: service.On[S](serviceconfig.ReportLogging), Informational: true,
	})
}

// ServiceUser tries the service's user, see [serviceuser.Reconcile].
func (Stateless[S]) ServiceUser() reconcile.Step[S] {
	return afterConfig(reconcile.Step[S]{
		Name: "ServiceUser", Condition: vocabulary.ConditionServiceUserReady, Run: service.On[S](serviceuser.Reconcile),
	})
}

// NetworkPolicies restricts the traffic, see [networking.ReconcilePolicies].
func (Stateless[S]) NetworkPolicies() reconcile.Step[S] {
	return reconcile.Step[S]{
		Name: "NetworkPolicy", Condition: vocabulary.ConditionNetworkPolicyReady, Run: service.On[S](networking.ReconcilePolicies),
	}
}

// Image reports whether the image has the release of its tag, see [image.Reconcile].
func (Stateless[S]) Image() reconcile.Step[S] {
	return reconcile.Step[S]{
		Name: "Image", Condition: vocabulary.ConditionReleaseConsistent, Run: service.On[S](image.Reconcile),
		Needs: []string{"Config"}, Informational: true,
	}
}

// Deployment runs the pods, see [deployment.API.Reconcile].
func (Stateless[S]) Deployment(api deployment.API[S]) reconcile.Step[S] {
	return reconcile.Step[S]{
		Name: "Deployment", Condition: vocabulary.ConditionDeploymentReady, Run: api.Reconcile,
		Reads: []reconcile.Value{service.Config}, Needs: []string{"ConfigCheck"},
	}
}

// Route exposes the service, see [networking.ReconcileRoute].
func (Stateless[S]) Route() reconcile.Step[S] {
	return reconcile.Step[S]{Name: "HTTPRoute", Condition: vocabulary.ConditionHTTPRouteReady, Run: service.On[S](networking.ReconcileRoute)}
}

// HealthCheck asks the service at the URL whether it is healthy, see [health.Check].
func (Stateless[S]) HealthCheck(condition string, url func(S) string) reconcile.Step[S] {
	return reconcile.Step[S]{
		Name: "HealthCheck", Condition: condition, Run: health.Check[S]{Condition: condition, URL: url}.Reconcile,
		Sets: []reconcile.Value{health.RolloutOf},
	}
}

// Autoscaler sets the number of pods by their load, see [deployment.ReconcileAutoscaler].
func (Stateless[S]) Autoscaler() reconcile.Step[S] {
	return reconcile.Step[S]{Name: "HPA", Condition: vocabulary.ConditionHPAReady, Run: service.On[S](deployment.ReconcileAutoscaler)}
}

// afterConfig makes a step one that uses the configuration.
func afterConfig[S any](step reconcile.Step[S]) reconcile.Step[S] {
	return step.Reading(service.Config).Needing("Config")
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
