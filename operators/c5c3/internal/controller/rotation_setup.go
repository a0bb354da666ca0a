package controller

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/c5c3/forge/internal/common/enqueue"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

const (
	rotationControllerName = "credentialrotation"
	rotationRecorderName   = "credentialrotation-controller"
)

// setupRotations registers the controller of CredentialRotations. What becomes of
// a credential shows in the status of its ControlPlane, so that this is watched, and
// the Secrets, one of which has the administrator's password. A day of a schedule
// takes as long as day.
func setupRotations(mgr ctrl.Manager, cfg operator.Config, tools *toolbox, stepMetrics *reconcile.Metrics, day time.Duration) error {
	if err := rotationPipeline.Validate(); err != nil {
		return fmt.Errorf("the credential rotation pipeline: %w", err)
	}
	find := enqueue.Finder[*c5c3v1alpha1.CredentialRotation]{
		Reader: mgr.GetClient(), Plural: "CredentialRotations",
		NewList: func() client.ObjectList { return &c5c3v1alpha1.CredentialRotationList{} },
	}
	err := ctrl.NewControllerManagedBy(mgr).Named(rotationControllerName).
		For(&c5c3v1alpha1.CredentialRotation{}).
		Watches(&c5c3v1alpha1.ControlPlane{}, handler.EnqueueRequestsFromMapFunc(find.Neighbours)).
		WatchesRawSource(tools.refs.SecretSource(find.Neighbours)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cfg.MaxConcurrentReconciles,
			EnableWarmup:            ptr.To(true),
			RateLimiter:             enqueue.RateLimiter(),
		}).
		Complete(&reconcile.Reconciler[*c5c3v1alpha1.CredentialRotation, *rotationScope]{
			Client:   mgr.GetClient(),
			Recorder: mgr.GetEventRecorder(rotationRecorderName),
			Metrics:  stepMetrics,
			New:      func() *c5c3v1alpha1.CredentialRotation { return &c5c3v1alpha1.CredentialRotation{} },
			Guard:    guardRotation,
			Scope: func(rotation *c5c3v1alpha1.CredentialRotation) *rotationScope {
				return &rotationScope{toolbox: tools, rotation: rotation, day: day}
			},
			Pipeline: rotationPipeline,
		})
	if err != nil {
		return fmt.Errorf("building the controller of CredentialRotations: %w", err)
	}
	return nil
}

// guardRotation refuses a spec that was stored before a rule, or without the
// webhook. A target that does not exist has a reason of its own.
func guardRotation(rotation *c5c3v1alpha1.CredentialRotation) error {
	if !targetsCredential(rotation) {
		return nil
	}
	return c5c3v1alpha1.ValidateCredentialRotation(rotation).ToAggregate()
}
