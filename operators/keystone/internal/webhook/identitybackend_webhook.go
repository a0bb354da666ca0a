package webhook

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// +kubebuilder:webhook:path=/mutate-keystone-openstack-c5c3-io-v1alpha1-keystoneidentitybackend,mutating=true,failurePolicy=fail,sideEffects=None,groups=keystone.openstack.c5c3.io,resources=keystoneidentitybackends,verbs=create;update,versions=v1alpha1,name=mkeystoneidentitybackend.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-keystone-openstack-c5c3-io-v1alpha1-keystoneidentitybackend,mutating=false,failurePolicy=fail,sideEffects=None,groups=keystone.openstack.c5c3.io,resources=keystoneidentitybackends,verbs=create;update;delete,versions=v1alpha1,name=vkeystoneidentitybackend.kb.io,admissionReviewVersions=v1

// NewIdentityBackendWebhook returns the admission webhook of KeystoneIdentityBackends.
func NewIdentityBackendWebhook() *admission.Webhook[*keystonev1alpha1.KeystoneIdentityBackend] {
	return &admission.Webhook[*keystonev1alpha1.KeystoneIdentityBackend]{
		Object:      &keystonev1alpha1.KeystoneIdentityBackend{},
		Kind:        keystonev1alpha1.GroupVersion.WithKind(keystonev1alpha1.KindIdentityBackend).GroupKind(),
		Resource:    keystonev1alpha1.GroupVersion.WithResource("keystoneidentitybackends").GroupResource(),
		Spec:        func(b *keystonev1alpha1.KeystoneIdentityBackend) any { return b.Spec },
		Defaults:    keystonev1alpha1.SetIdentityBackendDefaults,
		Rules:       keystonev1alpha1.ValidateIdentityBackend,
		UpdateRules: keystonev1alpha1.ValidateIdentityBackendUpdate,
		Warnings: func(_ context.Context, _ client.Reader, b *keystonev1alpha1.KeystoneIdentityBackend) []string {
			return b.Spec.Warnings(field.NewPath("spec"))
		},
	}
}
