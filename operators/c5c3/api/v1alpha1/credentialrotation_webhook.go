package v1alpha1

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// +kubebuilder:webhook:path=/validate-c5c3-io-v1alpha1-credentialrotation,mutating=false,failurePolicy=ignore,sideEffects=None,groups=c5c3.io,resources=credentialrotations,verbs=create;update,versions=v1alpha1,name=vcredentialrotation.kb.io,admissionReviewVersions=v1

// CredentialRotationWebhook warns of a schedule that does not act. It refuses
// nothing, since the schema states all rules of the kind; when it cannot be asked,
// the API server goes on without it.
//
// +kubebuilder:object:generate=false
type CredentialRotationWebhook struct {
	// Client lists the ControlPlanes of the namespace.
	Client client.Reader
}

var _ admission.Validator[*CredentialRotation] = &CredentialRotationWebhook{}

// SetupWebhookWithManager serves the webhook from the manager's webhook server.
func (w *CredentialRotationWebhook) SetupWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &CredentialRotation{}).WithValidator(w).Complete()
}

// ValidateCreate warns of a schedule that does not act.
func (w *CredentialRotationWebhook) ValidateCreate(ctx context.Context, rotation *CredentialRotation) (admission.Warnings, error) {
	return w.warnings(ctx, rotation), nil
}

// ValidateUpdate warns of a schedule that does not act.
func (w *CredentialRotationWebhook) ValidateUpdate(ctx context.Context, _, updated *CredentialRotation) (admission.Warnings, error) {
	return w.warnings(ctx, updated), nil
}

// ValidateDelete says nothing; the webhook is not registered for deletions.
func (w *CredentialRotationWebhook) ValidateDelete(context.Context, *CredentialRotation) (admission.Warnings, error) {
	return nil, nil
}

// warnings passes over what it cannot look up: the status tells it, too.
func (w *CredentialRotationWebhook) warnings(ctx context.Context, rotation *CredentialRotation) admission.Warnings {
	if rotation.DeletionTimestamp != nil || !rotation.Spec.HasSchedule() {
		return nil
	}
	var present ControlPlaneList
	if err := w.Client.List(ctx, &present, client.InNamespace(rotation.Namespace), client.Limit(1)); err != nil || len(present.Items) == 0 {
		return nil
	}
	cp := &present.Items[0]
	SetDefaults(cp)
	mode := cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode
	if mode == RotationScheduled {
		return nil
	}
	return admission.Warnings{"spec.intervalDays: " + ScheduleRemedy(mode)}
}
