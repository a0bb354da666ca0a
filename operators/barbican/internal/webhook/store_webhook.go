package webhook

import (
	"github.com/c5c3/forge/internal/common/admission"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

// +kubebuilder:webhook:path=/mutate-barbican-openstack-c5c3-io-v1alpha1-barbicansecretstore,mutating=true,failurePolicy=fail,sideEffects=None,groups=barbican.openstack.c5c3.io,resources=barbicansecretstores,verbs=create;update,versions=v1alpha1,name=mbarbicansecretstore.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-barbican-openstack-c5c3-io-v1alpha1-barbicansecretstore,mutating=false,failurePolicy=fail,sideEffects=None,groups=barbican.openstack.c5c3.io,resources=barbicansecretstores,verbs=create;update;delete,versions=v1alpha1,name=vbarbicansecretstore.kb.io,admissionReviewVersions=v1

// NewSecretStoreWebhook returns the admission webhook of BarbicanSecretStores.
func NewSecretStoreWebhook() *admission.Webhook[*barbicanv1alpha1.BarbicanSecretStore] {
	return &admission.Webhook[*barbicanv1alpha1.BarbicanSecretStore]{
		Object:   &barbicanv1alpha1.BarbicanSecretStore{},
		Kind:     barbicanv1alpha1.GroupVersion.WithKind(barbicanv1alpha1.KindStore).GroupKind(),
		Resource: barbicanv1alpha1.GroupVersion.WithResource("barbicansecretstores").GroupResource(),
		Spec:     func(s *barbicanv1alpha1.BarbicanSecretStore) any { return s.Spec },
		// There are no defaults.
		Defaults: func(*barbicanv1alpha1.BarbicanSecretStore) {},
		Rules:    barbicanv1alpha1.ValidateStore,

		UpdateRules: barbicanv1alpha1.ValidateStoreUpdate,
	}
}
