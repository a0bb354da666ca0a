// Package webhook has the admission webhook of Placements.
package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/cluster"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// +kubebuilder:webhook:path=/mutate-placement-openstack-c5c3-io-v1alpha1-placement,mutating=true,failurePolicy=fail,sideEffects=None,groups=placement.openstack.c5c3.io,resources=placements,verbs=create;update,versions=v1alpha1,name=mplacement.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-placement-openstack-c5c3-io-v1alpha1-placement,mutating=false,failurePolicy=fail,sideEffects=None,groups=placement.openstack.c5c3.io,resources=placements,verbs=create;update;delete,versions=v1alpha1,name=vplacement.kb.io,admissionReviewVersions=v1

// NewPlacementWebhook returns the admission webhook of Placements. The settings of the
// cluster say which names in DNS are one Service.
func NewPlacementWebhook(in cluster.Settings) *admission.Webhook[*placementv1alpha1.Placement] {
	return &admission.Webhook[*placementv1alpha1.Placement]{
		Object:      &placementv1alpha1.Placement{},
		Kind:        placementv1alpha1.GroupVersion.WithKind(placementv1alpha1.Kind).GroupKind(),
		Resource:    placementv1alpha1.GroupVersion.WithResource("placements").GroupResource(),
		Spec:        func(p *placementv1alpha1.Placement) any { return p.Spec },
		Defaults:    placementv1alpha1.SetDefaults,
		Rules:       placementv1alpha1.Validate,
		Limits:      placementv1alpha1.Limits,
		UpdateRules: placementv1alpha1.ValidateUpdate,
		Lookup: admission.ServiceLookup[*placementv1alpha1.Placement]{
			NewList: func() client.ObjectList { return &placementv1alpha1.PlacementList{} }, Cluster: in,
		}.Check,
		Warnings: func(_ context.Context, _ client.Reader, p *placementv1alpha1.Placement) []string {
			return admission.OptionWarnings(p.Spec.ExtraConfig, "placement_database")
		},
	}
}
