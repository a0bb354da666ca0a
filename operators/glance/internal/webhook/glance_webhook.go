// Package webhook has the admission webhook of Glances.
package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/cluster"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

// +kubebuilder:webhook:path=/mutate-glance-openstack-c5c3-io-v1alpha1-glance,mutating=true,failurePolicy=fail,sideEffects=None,groups=glance.openstack.c5c3.io,resources=glances,verbs=create;update,versions=v1alpha1,name=mglance.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-glance-openstack-c5c3-io-v1alpha1-glance,mutating=false,failurePolicy=fail,sideEffects=None,groups=glance.openstack.c5c3.io,resources=glances,verbs=create;update;delete,versions=v1alpha1,name=vglance.kb.io,admissionReviewVersions=v1

// NewGlanceWebhook returns the admission webhook of Glances. The settings of the
// cluster say which names in DNS are one Service.
func NewGlanceWebhook(in cluster.Settings) *admission.Webhook[*glancev1alpha1.Glance] {
	return &admission.Webhook[*glancev1alpha1.Glance]{
		Object:      &glancev1alpha1.Glance{},
		Kind:        glancev1alpha1.GroupVersion.WithKind(glancev1alpha1.Kind).GroupKind(),
		Resource:    glancev1alpha1.GroupVersion.WithResource("glances").GroupResource(),
		Spec:        func(p *glancev1alpha1.Glance) any { return p.Spec },
		Defaults:    glancev1alpha1.SetDefaults,
		Rules:       glancev1alpha1.Validate,
		Limits:      glancev1alpha1.Limits,
		UpdateRules: glancev1alpha1.ValidateUpdate,
		Lookup: admission.ServiceLookup[*glancev1alpha1.Glance]{
			NewList: func() client.ObjectList { return &glancev1alpha1.GlanceList{} }, Cluster: in,
		}.Check,
		Warnings: func(_ context.Context, _ client.Reader, p *glancev1alpha1.Glance) []string {
			return admission.OptionWarnings(p.Spec.ExtraConfig, "database")
		},
	}
}
