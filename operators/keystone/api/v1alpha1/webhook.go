package v1alpha1

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/cluster"
)

// +kubebuilder:webhook:path=/mutate-keystone-openstack-c5c3-io-v1alpha1-keystone,mutating=true,failurePolicy=fail,sideEffects=None,groups=keystone.openstack.c5c3.io,resources=keystones,verbs=create;update,versions=v1alpha1,name=mkeystone.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-keystone-openstack-c5c3-io-v1alpha1-keystone,mutating=false,failurePolicy=fail,sideEffects=None,groups=keystone.openstack.c5c3.io,resources=keystones,verbs=create;update;delete,versions=v1alpha1,name=vkeystone.kb.io,admissionReviewVersions=v1

// NewKeystoneWebhook returns the admission webhook of Keystones. The settings of the
// cluster say which names in DNS are one Service.
func NewKeystoneWebhook(in cluster.Settings) *admission.Webhook[*Keystone] {
	return &admission.Webhook[*Keystone]{
		Object:      &Keystone{},
		Kind:        GroupVersion.WithKind(Kind).GroupKind(),
		Resource:    GroupVersion.WithResource("keystones").GroupResource(),
		Spec:        func(k *Keystone) any { return k.Spec },
		Defaults:    SetDefaults,
		Rules:       Validate,
		Limits:      limits,
		UpdateRules: ValidateUpdate,
		Lookup: admission.ServiceLookup[*Keystone]{
			NewList: func() client.ObjectList { return &KeystoneList{} }, Cluster: in,
		}.Check,
		Warnings: func(_ context.Context, _ client.Reader, k *Keystone) []string {
			return append(secretsWarnings(k), fernetWarning(k), k.Spec.ProxyAdvice(k.Namespace), connectionWarning(k))
		},
	}
}

// fernetWarning says how many keys the lifetime of tokens needs, "" when there are
// enough.
func fernetWarning(k *Keystone) string {
	lifetime, ok := k.Spec.TokenLifetime()
	if !ok {
		return ""
	}
	required, err := RequiredFernetKeys(k.Spec.Fernet.RotationSchedule, lifetime)
	if err != nil || int64(k.Spec.Fernet.MaxActiveKeys) >= required {
		return ""
	}
	advice := fmt.Sprintf("set maxActiveKeys to at least %d, or rotate less often", required)
	if required > int64(MaxActiveKeys) {
		advice = fmt.Sprintf("rotate less often or shorten the lifetime, so that %d keys are enough", MaxActiveKeys)
	}
	return fmt.Sprintf(
		"spec.fernet: with maxActiveKeys %d and rotationSchedule %q a token can become invalid before its lifetime of %s ends: %s",
		k.Spec.Fernet.MaxActiveKeys, k.Spec.Fernet.RotationSchedule, lifetime, advice)
}
