// Package webhook has the admission webhook of Keystones.
package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/cluster"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// +kubebuilder:webhook:path=/mutate-keystone-openstack-c5c3-io-v1alpha1-keystone,mutating=true,failurePolicy=fail,sideEffects=None,groups=keystone.openstack.c5c3.io,resources=keystones,verbs=create;update,versions=v1alpha1,name=mkeystone.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-keystone-openstack-c5c3-io-v1alpha1-keystone,mutating=false,failurePolicy=fail,sideEffects=None,groups=keystone.openstack.c5c3.io,resources=keystones,verbs=create;update;delete,versions=v1alpha1,name=vkeystone.kb.io,admissionReviewVersions=v1

// NewKeystoneWebhook returns the admission webhook of Keystones. The settings of the
// cluster say which names in DNS are one Service.
func NewKeystoneWebhook(in cluster.Settings) *admission.Webhook[*keystonev1alpha1.Keystone] {
	return &admission.Webhook[*keystonev1alpha1.Keystone]{
		Object:      &keystonev1alpha1.Keystone{},
		Kind:        keystonev1alpha1.GroupVersion.WithKind(keystonev1alpha1.Kind).GroupKind(),
		Resource:    keystonev1alpha1.GroupVersion.WithResource("keystones").GroupResource(),
		Spec:        func(k *keystonev1alpha1.Keystone) any { return k.Spec },
		Defaults:    keystonev1alpha1.SetDefaults,
		Rules:       keystonev1alpha1.Validate,
		Limits:      keystonev1alpha1.Limits,
		UpdateRules: keystonev1alpha1.ValidateUpdate,
		Lookup: admission.ServiceLookup[*keystonev1alpha1.Keystone]{
			NewList: func() client.ObjectList { return &keystonev1alpha1.KeystoneList{} }, Cluster: in,
		}.Check,
		Warnings: func(_ context.Context, _ client.Reader, k *keystonev1alpha1.Keystone) []string {
			return append(secretsWarnings(k), fernetWarning(k), k.Spec.ProxyAdvice(k.Namespace), connectionWarning(k))
		},
	}
}
