// Package credentialrotation is the controller of the CredentialRotation kind.
package credentialrotation

import (
	"fmt"

	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/watches"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

const (
	controllerName = "credentialrotation"
	recorderName   = "credentialrotation-controller"
)

// Setup registers the controller of CredentialRotations with the manager. It watches
// ControlPlanes, whose status shows the state of the credential, and Secrets, one of
// which has the administrator's password.
func Setup(mgr ctrl.Manager, cfg startup.Config, tools Tools, stepMetrics *reconcile.Metrics) error {
	if err := Pipeline.Validate(); err != nil {
		return fmt.Errorf("the credential rotation pipeline: %w", err)
	}
	find := watches.Mapper[*c5c3v1alpha1.CredentialRotation]{
		Reader: mgr.GetClient(), Plural: "CredentialRotations",
		NewList: func() client.ObjectList { return &c5c3v1alpha1.CredentialRotationList{} },
	}
	err := ctrl.NewControllerManagedBy(mgr).Named(controllerName).
		For(&c5c3v1alpha1.CredentialRotation{}).
		Watches(&c5c3v1alpha1.ControlPlane{}, handler.EnqueueRequestsFromMapFunc(find.SameNamespace)).
		WatchesRawSource(tools.Refs.SecretSource(find.SameNamespace)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cfg.MaxConcurrentReconciles,
			EnableWarmup:            ptr.To(true),
			RateLimiter:             watches.RateLimiter(),
		}).
		Complete(&reconcile.Reconciler[*c5c3v1alpha1.CredentialRotation, *scope]{
			Client:   mgr.GetClient(),
			Recorder: mgr.GetEventRecorder(recorderName),
			Metrics:  stepMetrics,
			New:      func() *c5c3v1alpha1.CredentialRotation { return &c5c3v1alpha1.CredentialRotation{} },
			Guard:    guard,
			Scope: func(rotation *c5c3v1alpha1.CredentialRotation) *scope {
				return &scope{Tools: tools, rotation: rotation}
			},
			Pipeline: Pipeline,
		})
	if err != nil {
		return fmt.Errorf("building the controller of CredentialRotations: %w", err)
	}
	return nil
}

// guard rejects a spec that was stored before a rule existed, or without the webhook. An
// unsupported target is reported with its own reason.
func guard(rotation *c5c3v1alpha1.CredentialRotation) error {
	if !targetsCredential(rotation) {
		return nil
	}
	return c5c3v1alpha1.ValidateCredentialRotation(rotation).ToAggregate()
}
