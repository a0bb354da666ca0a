package webhook

import (
	"github.com/c5c3/forge/internal/common/admission"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

// +kubebuilder:webhook:path=/mutate-glance-openstack-c5c3-io-v1alpha1-glancebackend,mutating=true,failurePolicy=fail,sideEffects=None,groups=glance.openstack.c5c3.io,resources=glancebackends,verbs=create;update,versions=v1alpha1,name=mglancebackend.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-glance-openstack-c5c3-io-v1alpha1-glancebackend,mutating=false,failurePolicy=fail,sideEffects=None,groups=glance.openstack.c5c3.io,resources=glancebackends,verbs=create;update;delete,versions=v1alpha1,name=vglancebackend.kb.io,admissionReviewVersions=v1

// NewGlanceBackendWebhook returns the admission webhook of GlanceBackends.
func NewGlanceBackendWebhook() *admission.Webhook[*glancev1alpha1.GlanceBackend] {
	return &admission.Webhook[*glancev1alpha1.GlanceBackend]{
		Object:   &glancev1alpha1.GlanceBackend{},
		Kind:     glancev1alpha1.GroupVersion.WithKind(glancev1alpha1.KindBackend).GroupKind(),
		Resource: glancev1alpha1.GroupVersion.WithResource("glancebackends").GroupResource(),
		Spec:     func(b *glancev1alpha1.GlanceBackend) any { return b.Spec },
		// The schema has all defaults.
		Defaults: func(*glancev1alpha1.GlanceBackend) {},
		Rules:    glancev1alpha1.ValidateBackend,

		UpdateRules: glancev1alpha1.ValidateBackendUpdate,
	}
}
