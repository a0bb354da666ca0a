package v1alpha1

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/cluster"
)

// +kubebuilder:webhook:path=/mutate-placement-openstack-c5c3-io-v1alpha1-placement,mutating=true,failurePolicy=fail,sideEffects=None,groups=placement.openstack.c5c3.io,resources=placements,verbs=create;update,versions=v1alpha1,name=mplacement.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-placement-openstack-c5c3-io-v1alpha1-placement,mutating=false,failurePolicy=fail,sideEffects=None,groups=placement.openstack.c5c3.io,resources=placements,verbs=create;update;delete,versions=v1alpha1,name=vplacement.kb.io,admissionReviewVersions=v1

// NewPlacementWebhook returns the admission webhook of Placements. The settings of the
// cluster say which names in DNS are one Service.
func NewPlacementWebhook(in cluster.Settings) *admission.Webhook[*Placement] {
	return &admission.Webhook[*Placement]{
		Object:      &Placement{},
		Kind:        GroupVersion.WithKind(Kind).GroupKind(),
		Resource:    GroupVersion.WithResource("placements").GroupResource(),
		Spec:        func(p *Placement) any { return p.Spec },
		Defaults:    SetDefaults,
		Rules:       Validate,
		Limits:      limits,
		UpdateRules: ValidateUpdate,
		Lookup: admission.ServiceLookup[*Placement]{
			NewList: func() client.ObjectList { return &PlacementList{} }, Cluster: in,
		}.Check,
		Warnings: func(_ context.Context, _ client.Reader, p *Placement) []string { return warnings(p) },
	}
}
