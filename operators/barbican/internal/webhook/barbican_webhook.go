// Package webhook has the admission webhook of Barbicans.
package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/cluster"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

// +kubebuilder:webhook:path=/mutate-barbican-openstack-c5c3-io-v1alpha1-barbican,mutating=true,failurePolicy=fail,sideEffects=None,groups=barbican.openstack.c5c3.io,resources=barbicans,verbs=create;update,versions=v1alpha1,name=mbarbican.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-barbican-openstack-c5c3-io-v1alpha1-barbican,mutating=false,failurePolicy=fail,sideEffects=None,groups=barbican.openstack.c5c3.io,resources=barbicans,verbs=create;update;delete,versions=v1alpha1,name=vbarbican.kb.io,admissionReviewVersions=v1

// NewBarbicanWebhook returns the admission webhook of Barbicans. The settings of the
// cluster say which names in DNS are one Service.
func NewBarbicanWebhook(in cluster.Settings) *admission.Webhook[*barbicanv1alpha1.Barbican] {
	return &admission.Webhook[*barbicanv1alpha1.Barbican]{
		Object:      &barbicanv1alpha1.Barbican{},
		Kind:        barbicanv1alpha1.GroupVersion.WithKind(barbicanv1alpha1.Kind).GroupKind(),
		Resource:    barbicanv1alpha1.GroupVersion.WithResource("barbicans").GroupResource(),
		Spec:        func(b *barbicanv1alpha1.Barbican) any { return b.Spec },
		Defaults:    barbicanv1alpha1.SetDefaults,
		Rules:       barbicanv1alpha1.Validate,
		Limits:      barbicanv1alpha1.Limits,
		UpdateRules: barbicanv1alpha1.ValidateUpdate,
		Lookup: admission.ServiceLookup[*barbicanv1alpha1.Barbican]{
			NewList: func() client.ObjectList { return &barbicanv1alpha1.BarbicanList{} }, Cluster: in,
		}.Check,
		Warnings: func(_ context.Context, _ client.Reader, b *barbicanv1alpha1.Barbican) []string {
			return admission.OptionWarnings(b.Spec.ExtraConfig, "database")
		},
	}
}
