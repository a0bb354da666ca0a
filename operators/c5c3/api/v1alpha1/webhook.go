package v1alpha1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// +kubebuilder:webhook:path=/mutate-c5c3-io-v1alpha1-controlplane,mutating=true,failurePolicy=fail,sideEffects=None,groups=c5c3.io,resources=controlplanes,verbs=create;update,versions=v1alpha1,name=mcontrolplane.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-c5c3-io-v1alpha1-controlplane,mutating=false,failurePolicy=fail,sideEffects=None,groups=c5c3.io,resources=controlplanes,verbs=create;update;delete,versions=v1alpha1,name=vcontrolplane.kb.io,admissionReviewVersions=v1

// ControlPlaneWebhook is the admission webhook of ControlPlanes: it fills in
// defaults and refuses what cannot work.
//
// +kubebuilder:object:generate=false
type ControlPlaneWebhook struct {
	// Client looks for another ControlPlane in the namespace. It must not be a
	// cached one, which may not show one that was created a moment ago.
	Client client.Reader
}

var (
	_ admission.Defaulter[*ControlPlane] = &ControlPlaneWebhook{}
	_ admission.Validator[*ControlPlane] = &ControlPlaneWebhook{}
)

// SetupWebhookWithManager serves the webhook from the manager's webhook server.
func (w *ControlPlaneWebhook) SetupWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &ControlPlane{}).WithDefaulter(w).WithValidator(w).Complete()
}

// Default fills in what the user left out.
func (w *ControlPlaneWebhook) Default(_ context.Context, cp *ControlPlane) error {
	SetDefaults(cp)
	return nil
}

// ValidateCreate refuses a new ControlPlane that cannot work, or that is not the
// only one of its namespace. Everything that is wrong is in one error of type
// Invalid.
func (w *ControlPlaneWebhook) ValidateCreate(ctx context.Context, cp *ControlPlane) (admission.Warnings, error) {
	errs := append(Validate(cp), w.checkOnlyOne(ctx, cp)...)
	return warnings(cp), invalid(cp, errs)
}

// ValidateUpdate refuses a change that cannot work or that a running control
// plane would not survive. It lets a ControlPlane that is being deleted, and a
// change that leaves the spec alone, pass: neither may hang on a rule that is
// newer than the object.
func (w *ControlPlaneWebhook) ValidateUpdate(_ context.Context, old, updated *ControlPlane) (admission.Warnings, error) {
	if updated.DeletionTimestamp != nil {
		return nil, nil
	}
	before := old.DeepCopy()
	SetDefaults(before)
	if equality.Semantic.DeepEqual(before.Spec, updated.Spec) {
		return nil, nil
	}
	return warnings(updated), invalid(updated, append(Validate(updated), ValidateUpdate(before, updated)...))
}

// ValidateDelete refuses to delete a ControlPlane that an annotation protects.
func (w *ControlPlaneWebhook) ValidateDelete(_ context.Context, cp *ControlPlane) (admission.Warnings, error) {
	return nil, commonv1.CheckDeletion(GroupVersion.WithResource("controlplanes").GroupResource(), cp)
}

func (w *ControlPlaneWebhook) checkOnlyOne(ctx context.Context, cp *ControlPlane) field.ErrorList {
	path := field.NewPath("metadata", "namespace")
	var present ControlPlaneList
	if err := w.Client.List(ctx, &present, client.InNamespace(cp.Namespace), client.Limit(1)); err != nil {
		return field.ErrorList{field.InternalError(path, fmt.Errorf("listing the ControlPlanes of namespace %q: %w", cp.Namespace, err))}
	}
	if len(present.Items) == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
		"namespace %q already has the ControlPlane %q: create this one in another namespace, or delete that one first",
		cp.Namespace, present.Items[0].Name))}
}

func invalid(cp *ControlPlane, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(GroupVersion.WithKind("ControlPlane").GroupKind(), cp.Name, errs)
}
