// Package secretaggregate is the controller of the SecretAggregate kind.
package secretaggregate

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/watches"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

const (
	controllerName = "secretaggregate"
	recorderName   = "secretaggregate-controller"
)

// Setup registers the controller of SecretAggregates with the manager. reserved reports
// whether a service of a ControlPlane has, or will have, a Secret of the name.
func Setup(
	mgr ctrl.Manager, cfg startup.Config, references *refs.Reader, stepMetrics *reconcile.Metrics,
	reserved func(name string, cp *c5c3v1alpha1.ControlPlane) bool,
) error {
	if err := Pipeline.Validate(); err != nil {
		return fmt.Errorf("the secret aggregate pipeline: %w", err)
	}
	tools := &aggregator{
		client: mgr.GetClient(), refs: references, reserved: reserved,
		secrets: secrets.Owned{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Scheme: mgr.GetScheme()},
	}
	find := watches.Mapper[*c5c3v1alpha1.SecretAggregate]{
		Reader: mgr.GetClient(), Plural: "SecretAggregates",
		NewList: func() client.ObjectList { return &c5c3v1alpha1.SecretAggregateList{} },
	}
	err := ctrl.NewControllerManagedBy(mgr).Named(controllerName).
		For(&c5c3v1alpha1.SecretAggregate{}).
		Owns(&corev1.Secret{}).
		// Only the existence and the spec of a control plane matter.
		Watches(&c5c3v1alpha1.ControlPlane{}, handler.EnqueueRequestsFromMapFunc(find.SameNamespace),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(references.SecretSource(find.SameNamespaceWhere(tools.concerned))).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cfg.MaxConcurrentReconciles,
			EnableWarmup:            ptr.To(true),
			RateLimiter:             watches.RateLimiter(),
		}).
		Complete(&reconcile.Reconciler[*c5c3v1alpha1.SecretAggregate, *aggregation]{
			Client:   mgr.GetClient(),
			Recorder: mgr.GetEventRecorder(recorderName),
			Metrics:  stepMetrics,
			New:      func() *c5c3v1alpha1.SecretAggregate { return &c5c3v1alpha1.SecretAggregate{} },
			Guard: func(aggregate *c5c3v1alpha1.SecretAggregate) error {
				return c5c3v1alpha1.ValidateSecretAggregate(aggregate).ToAggregate()
			},
			Scope: func(aggregate *c5c3v1alpha1.SecretAggregate) *aggregation {
				return &aggregation{aggregator: tools, aggregate: aggregate}
			},
			Pipeline: Pipeline,
		})
	if err != nil {
		return fmt.Errorf("building the secret aggregate controller: %w", err)
	}
	return nil
}

// concerned reports whether the SecretAggregate writes the Secret or may read it.
func (a *aggregator) concerned(ctx context.Context, aggregate *c5c3v1alpha1.SecretAggregate, secret client.Object) bool {
	return aggregate.TargetSecret() == secret.GetName() || a.isSource(ctx, secret)
}

// isSource reports whether a control plane of the namespace has a credential in the
// Secret.
func (a *aggregator) isSource(ctx context.Context, secret client.Object) bool {
	var all c5c3v1alpha1.ControlPlaneList
	if err := a.client.List(ctx, &all, client.InNamespace(secret.GetNamespace())); err != nil {
		log.FromContext(ctx).Error(err, "Listing the ControlPlanes of a Secret failed")
		return true
	}
	return slices.ContainsFunc(all.Items, func(cp c5c3v1alpha1.ControlPlane) bool {
		c5c3v1alpha1.SetDefaults(&cp)
		return slices.ContainsFunc(credentialSecrets(&cp), func(from credentialSecret) bool { return from.name == secret.GetName() })
	})
}
