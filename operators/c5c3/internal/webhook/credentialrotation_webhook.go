package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// +kubebuilder:webhook:path=/validate-c5c3-io-v1alpha1-credentialrotation,mutating=false,failurePolicy=ignore,sideEffects=None,groups=c5c3.io,resources=credentialrotations,verbs=create;update,versions=v1alpha1,name=vcredentialrotation.kb.io,admissionReviewVersions=v1

// NewCredentialRotationWebhook returns the admission webhook of CredentialRotations. It
// warns of a schedule that does not act and refuses nothing, since the schema states all
// rules of the kind; when it cannot be reached, the API server proceeds without it.
func NewCredentialRotationWebhook() *admission.Webhook[*c5c3v1alpha1.CredentialRotation] {
	return &admission.Webhook[*c5c3v1alpha1.CredentialRotation]{
		Object:   &c5c3v1alpha1.CredentialRotation{},
		Kind:     c5c3v1alpha1.GroupVersion.WithKind("CredentialRotation").GroupKind(),
		Resource: c5c3v1alpha1.GroupVersion.WithResource("credentialrotations").GroupResource(),
		Warnings: scheduleWarnings,
	}
}

// scheduleWarnings ignores what it cannot look up: the status reports it, too.
func scheduleWarnings(ctx context.Context, reader client.Reader, rotation *c5c3v1alpha1.CredentialRotation) []string {
	if !rotation.Spec.HasSchedule() {
		return nil
	}
	var present c5c3v1alpha1.ControlPlaneList
	if err := reader.List(ctx, &present, client.InNamespace(rotation.Namespace), client.Limit(1)); err != nil || len(present.Items) == 0 {
		return nil
	}
	cp := &present.Items[0]
	c5c3v1alpha1.SetDefaults(cp)
	mode := cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode
	if mode == c5c3v1alpha1.RotationScheduled {
		return nil
	}
	return []string{"spec.intervalDays: " + c5c3v1alpha1.ScheduleRemedy(mode)}
}
