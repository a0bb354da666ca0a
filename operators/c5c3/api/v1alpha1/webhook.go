package v1alpha1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// +kubebuilder:webhook:path=/mutate-c5c3-io-v1alpha1-controlplane,mutating=true,failurePolicy=fail,sideEffects=None,groups=c5c3.io,resources=controlplanes,verbs=create;update,versions=v1alpha1,name=mcontrolplane.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-c5c3-io-v1alpha1-controlplane,mutating=false,failurePolicy=fail,sideEffects=None,groups=c5c3.io,resources=controlplanes,verbs=create;update;delete,versions=v1alpha1,name=vcontrolplane.kb.io,admissionReviewVersions=v1

// NewControlPlaneWebhook returns the admission webhook of ControlPlanes.
func NewControlPlaneWebhook() *admission.Webhook[*ControlPlane] {
	return &admission.Webhook[*ControlPlane]{
		Object:      &ControlPlane{},
		Kind:        GroupVersion.WithKind("ControlPlane").GroupKind(),
		Resource:    GroupVersion.WithResource("controlplanes").GroupResource(),
		Spec:        func(cp *ControlPlane) any { return cp.Spec },
		Defaults:    SetDefaults,
		Rules:       Validate,
		Limits:      limits,
		UpdateRules: ValidateUpdate,
		Lookup:      checkOnlyOne,
		Warnings: func(_ context.Context, _ client.Reader, cp *ControlPlane) []string {
			return []string{fernetWarning(cp), orderWarning(cp)}
		},
	}
}

// orderWarning warns about a Placement of a later release than that of the Keystone at which
// it validates tokens. An update takes Keystone first.
func orderWarning(cp *ControlPlane) string {
	keystone, placement := cp.Spec.Services.Keystone, cp.Spec.Services.Placement
	if keystone == nil || placement == nil {
		return ""
	}
	tag := func(image *commonv1.ImageSpec) string {
		if image == nil || image.Tag == "" {
			return cp.Spec.OpenStackRelease
		}
		return image.Tag
	}
	first, errFirst := release.Parse(tag(keystone.Image))
	second, errSecond := release.Parse(tag(placement.Image))
	if errFirst != nil || errSecond != nil || second.Compare(first) <= 0 {
		return ""
	}
	return fmt.Sprintf("Placement gets release %s while Keystone has %s: OpenStack upgrades Keystone first; "+
		"raise spec.services.keystone.image.tag or spec.openStackRelease before, or set spec.services.placement.image.tag to %s until then",
		second, first, first)
}

// checkOnlyOne refuses a ControlPlane that is not the only one of its namespace.
func checkOnlyOne(ctx context.Context, reader client.Reader, old, cp *ControlPlane) field.ErrorList {
	if old != nil {
		return nil
	}
	path := field.NewPath("metadata", "namespace")
	var present ControlPlaneList
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
