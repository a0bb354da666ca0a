package v1alpha1

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
)

// +kubebuilder:webhook:path=/mutate-placement-openstack-c5c3-io-v1alpha1-placement,mutating=true,failurePolicy=fail,sideEffects=None,groups=placement.openstack.c5c3.io,resources=placements,verbs=create;update,versions=v1alpha1,name=mplacement.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-placement-openstack-c5c3-io-v1alpha1-placement,mutating=false,failurePolicy=fail,sideEffects=None,groups=placement.openstack.c5c3.io,resources=placements,verbs=create;update;delete,versions=v1alpha1,name=vplacement.kb.io,admissionReviewVersions=v1

// NewPlacementWebhook returns the admission webhook of Placements.
func NewPlacementWebhook() *admission.Webhook[*Placement] {
	return &admission.Webhook[*Placement]{
		Object:      &Placement{},
		Kind:        GroupVersion.WithKind("Placement").GroupKind(),
		Resource:    GroupVersion.WithResource("placements").GroupResource(),
		Spec:        func(p *Placement) any { return p.Spec },
		Defaults:    SetDefaults,
		Rules:       Validate,
		UpdateRules: ValidateUpdate,
		Lookup: func(ctx context.Context, reader client.Reader, old, updated *Placement) field.ErrorList {
			var before *string
			if old != nil {
				before = old.Spec.PriorityClassName
			}
			return admission.CheckPriorityClass(ctx, reader, before, updated.Spec.PriorityClassName)
		},
	}
}
