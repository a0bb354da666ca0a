// Package webhook has the admission webhook of Horizons.
package webhook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/cluster"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
)

// +kubebuilder:webhook:path=/mutate-horizon-openstack-c5c3-io-v1alpha1-horizon,mutating=true,failurePolicy=fail,sideEffects=None,groups=horizon.openstack.c5c3.io,resources=horizons,verbs=create;update,versions=v1alpha1,name=mhorizon.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-horizon-openstack-c5c3-io-v1alpha1-horizon,mutating=false,failurePolicy=fail,sideEffects=None,groups=horizon.openstack.c5c3.io,resources=horizons,verbs=create;update;delete,versions=v1alpha1,name=vhorizon.kb.io,admissionReviewVersions=v1

// NewHorizonWebhook returns the admission webhook of Horizons.
func NewHorizonWebhook(in cluster.Settings) *admission.Webhook[*horizonv1alpha1.Horizon] {
	return &admission.Webhook[*horizonv1alpha1.Horizon]{
		Object:   &horizonv1alpha1.Horizon{},
		Kind:     horizonv1alpha1.GroupVersion.WithKind(horizonv1alpha1.Kind).GroupKind(),
		Resource: horizonv1alpha1.GroupVersion.WithResource("horizons").GroupResource(),
		Spec:     func(h *horizonv1alpha1.Horizon) any { return h.Spec },
		Defaults: horizonv1alpha1.SetDefaults,
		Rules:    horizonv1alpha1.Validate,
		Limits:   horizonv1alpha1.Limits,
		Lookup: admission.ServiceLookup[*horizonv1alpha1.Horizon]{
			NewList: func() client.ObjectList { return &horizonv1alpha1.HorizonList{} }, Cluster: in,
		}.Check,
		Warnings: func(_ context.Context, _ client.Reader, h *horizonv1alpha1.Horizon) []string { return warnings(h) },
	}
}

// warnings name the settings in the spec that look secret: anyone can read them who may read
// the resource.
func warnings(h *horizonv1alpha1.Horizon) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(h.Spec.Settings)) {
		if strings.Contains(name, "PASSWORD") || strings.Contains(name, "SECRET") {
			found = append(found, fmt.Sprintf("anyone who may read this resource or ConfigMaps can read spec.settings[%s]", name))
		}
	}
	return found
}
