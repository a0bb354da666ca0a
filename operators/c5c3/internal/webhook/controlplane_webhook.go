// Package webhook has the admission webhooks of ControlPlanes and CredentialRotations.
package webhook

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// +kubebuilder:webhook:path=/mutate-c5c3-io-v1alpha1-controlplane,mutating=true,failurePolicy=fail,sideEffects=None,groups=c5c3.io,resources=controlplanes,verbs=create;update,versions=v1alpha1,name=mcontrolplane.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-c5c3-io-v1alpha1-controlplane,mutating=false,failurePolicy=fail,sideEffects=None,groups=c5c3.io,resources=controlplanes,verbs=create;update;delete,versions=v1alpha1,name=vcontrolplane.kb.io,admissionReviewVersions=v1

// NewControlPlaneWebhook returns the admission webhook of ControlPlanes.
func NewControlPlaneWebhook() *admission.Webhook[*c5c3v1alpha1.ControlPlane] {
	return &admission.Webhook[*c5c3v1alpha1.ControlPlane]{
		Object:      &c5c3v1alpha1.ControlPlane{},
		Kind:        c5c3v1alpha1.GroupVersion.WithKind("ControlPlane").GroupKind(),
		Resource:    c5c3v1alpha1.GroupVersion.WithResource("controlplanes").GroupResource(),
		Spec:        func(cp *c5c3v1alpha1.ControlPlane) any { return cp.Spec },
		Defaults:    c5c3v1alpha1.SetDefaults,
		Rules:       c5c3v1alpha1.Validate,
		Limits:      c5c3v1alpha1.Limits,
		UpdateRules: c5c3v1alpha1.ValidateUpdate,
		Lookup:      checkOnlyOne,
		Warnings: func(_ context.Context, _ client.Reader, cp *c5c3v1alpha1.ControlPlane) []string {
			return slices.Concat(optionWarnings(cp), []string{fernetWarning(cp)}, orderWarnings(cp), identityBackendWarnings(cp))
		},
	}
}

// checkOnlyOne refuses a ControlPlane that is not the only one of its namespace.
func checkOnlyOne(ctx context.Context, reader client.Reader, old, cp *c5c3v1alpha1.ControlPlane) field.ErrorList {
	if old != nil {
		return nil
	}
	path := field.NewPath("metadata", "namespace")
	var present c5c3v1alpha1.ControlPlaneList
	if err := reader.List(ctx, &present, client.InNamespace(cp.Namespace), client.Limit(1)); err != nil {
		return field.ErrorList{field.InternalError(path, fmt.Errorf("listing the ControlPlanes of namespace %q: %w", cp.Namespace, err))}
	}
	if len(present.Items) == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
		"namespace %q already has the ControlPlane %q: create this one in another namespace, or delete that one first",
		cp.Namespace, present.Items[0].Name))}
}
