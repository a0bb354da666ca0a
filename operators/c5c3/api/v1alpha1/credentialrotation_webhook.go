package v1alpha1

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
)

// +kubebuilder:webhook:path=/validate-c5c3-io-v1alpha1-credentialrotation,mutating=false,failurePolicy=ignore,sideEffects=None,groups=c5c3.io,resources=credentialrotations,verbs=create;update,versions=v1alpha1,name=vcredentialrotation.kb.io,admissionReviewVersions=v1

// NewCredentialRotationWebhook returns the admission webhook of CredentialRotations. It
// warns of a schedule that does not act and refuses nothing, since the schema states all
// rules of the kind; when it cannot be reached, the API server proceeds without it.
func NewCredentialRotationWebhook() *admission.Webhook[*CredentialRotation] {
	return &admission.Webhook[*CredentialRotation]{
		Object:   &CredentialRotation{},
		Kind:     GroupVersion.WithKind("CredentialRotation").GroupKind(),
		Resource: GroupVersion.WithResource("credentialrotations").GroupResource(),
		Warnings: scheduleWarnings,
	}
}

// scheduleWarnings ignores what it cannot look up: the status reports it, too.
func scheduleWarnings(ctx context.Context, reader client.Reader, rotation *CredentialRotation) []string {
	if !rotation.Spec.HasSchedule() {
		return nil
	}
	var present ControlPlaneList
	if err := reader.List(ctx, &present, client.InNamespace(rotation.Namespace), client.Limit(1)); err != nil || len(present.Items) == 0 {
		return nil
	}
	cp := &present.Items[0]
	SetDefaults(cp)
	mode := cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode
	if mode == RotationScheduled {
		return nil
	}
	return []string{"spec.intervalDays: " + ScheduleRemedy(mode)}
}
