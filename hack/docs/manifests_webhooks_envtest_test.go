//go:build integration

package docs

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/admission"
	"github.com/c5c3/forge/internal/common/cluster"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// webhooks refuse what those of the operators refuse, which are internal to them, and warn
// of nothing.
func webhooks() []interface{ SetupWebhookWithManager(ctrl.Manager) error } {
	settings := cluster.Settings{Domain: cluster.DefaultDomain}
	return []interface{ SetupWebhookWithManager(ctrl.Manager) error }{
		&admission.Webhook[*keystonev1alpha1.Keystone]{
			Object:   &keystonev1alpha1.Keystone{},
			Kind:     keystonev1alpha1.GroupVersion.WithKind(keystonev1alpha1.Kind).GroupKind(),
			Resource: keystonev1alpha1.GroupVersion.WithResource("keystones").GroupResource(),
			Defaults: keystonev1alpha1.SetDefaults, Rules: keystonev1alpha1.Validate,
			Limits: keystonev1alpha1.Limits, UpdateRules: keystonev1alpha1.ValidateUpdate,
			Lookup: admission.ServiceLookup[*keystonev1alpha1.Keystone]{
				NewList: func() client.ObjectList { return &keystonev1alpha1.KeystoneList{} }, Cluster: settings,
			}.Check,
		},
		&admission.Webhook[*placementv1alpha1.Placement]{
			Object:   &placementv1alpha1.Placement{},
			Kind:     placementv1alpha1.GroupVersion.WithKind(placementv1alpha1.Kind).GroupKind(),
			Resource: placementv1alpha1.GroupVersion.WithResource("placements").GroupResource(),
			Defaults: placementv1alpha1.SetDefaults, Rules: placementv1alpha1.Validate,
			Limits: placementv1alpha1.Limits, UpdateRules: placementv1alpha1.ValidateUpdate,
			Lookup: admission.ServiceLookup[*placementv1alpha1.Placement]{
				NewList: func() client.ObjectList { return &placementv1alpha1.PlacementList{} }, Cluster: settings,
			}.Check,
		},
		&admission.Webhook[*barbicanv1alpha1.Barbican]{
			Object:   &barbicanv1alpha1.Barbican{},
			Kind:     barbicanv1alpha1.GroupVersion.WithKind(barbicanv1alpha1.Kind).GroupKind(),
			Resource: barbicanv1alpha1.GroupVersion.WithResource("barbicans").GroupResource(),
			Defaults: barbicanv1alpha1.SetDefaults, Rules: barbicanv1alpha1.Validate,
			Limits: barbicanv1alpha1.Limits, UpdateRules: barbicanv1alpha1.ValidateUpdate,
			Lookup: admission.ServiceLookup[*barbicanv1alpha1.Barbican]{
				NewList: func() client.ObjectList { return &barbicanv1alpha1.BarbicanList{} }, Cluster: settings,
			}.Check,
		},
		&admission.Webhook[*barbicanv1alpha1.BarbicanSecretStore]{
			Object:   &barbicanv1alpha1.BarbicanSecretStore{},
			Kind:     barbicanv1alpha1.GroupVersion.WithKind(barbicanv1alpha1.KindStore).GroupKind(),
			Resource: barbicanv1alpha1.GroupVersion.WithResource("barbicansecretstores").GroupResource(),
			Defaults: func(*barbicanv1alpha1.BarbicanSecretStore) {},
			Rules:    barbicanv1alpha1.ValidateStore, UpdateRules: barbicanv1alpha1.ValidateStoreUpdate,
		},
		&admission.Webhook[*glancev1alpha1.Glance]{
			Object:   &glancev1alpha1.Glance{},
			Kind:     glancev1alpha1.GroupVersion.WithKind(glancev1alpha1.Kind).GroupKind(),
			Resource: glancev1alpha1.GroupVersion.WithResource("glances").GroupResource(),
			Defaults: glancev1alpha1.SetDefaults, Rules: glancev1alpha1.Validate,
			Limits: glancev1alpha1.Limits, UpdateRules: glancev1alpha1.ValidateUpdate,
			Lookup: admission.ServiceLookup[*glancev1alpha1.Glance]{
				NewList: func() client.ObjectList { return &glancev1alpha1.GlanceList{} }, Cluster: settings,
			}.Check,
		},
		&admission.Webhook[*glancev1alpha1.GlanceBackend]{
			Object:   &glancev1alpha1.GlanceBackend{},
			Kind:     glancev1alpha1.GroupVersion.WithKind(glancev1alpha1.KindBackend).GroupKind(),
			Resource: glancev1alpha1.GroupVersion.WithResource("glancebackends").GroupResource(),
			Defaults: func(*glancev1alpha1.GlanceBackend) {},
			Rules:    glancev1alpha1.ValidateBackend, UpdateRules: glancev1alpha1.ValidateBackendUpdate,
		},
		&admission.Webhook[*keystonev1alpha1.KeystoneIdentityBackend]{
			Object:   &keystonev1alpha1.KeystoneIdentityBackend{},
			Kind:     keystonev1alpha1.GroupVersion.WithKind(keystonev1alpha1.KindIdentityBackend).GroupKind(),
			Resource: keystonev1alpha1.GroupVersion.WithResource("keystoneidentitybackends").GroupResource(),
			Defaults: keystonev1alpha1.SetIdentityBackendDefaults,
			Rules:    keystonev1alpha1.ValidateIdentityBackend, UpdateRules: keystonev1alpha1.ValidateIdentityBackendUpdate,
		},
		&admission.Webhook[*horizonv1alpha1.Horizon]{
			Object:   &horizonv1alpha1.Horizon{},
			Kind:     horizonv1alpha1.GroupVersion.WithKind(horizonv1alpha1.Kind).GroupKind(),
			Resource: horizonv1alpha1.GroupVersion.WithResource("horizons").GroupResource(),
			Defaults: horizonv1alpha1.SetDefaults, Rules: horizonv1alpha1.Validate, Limits: horizonv1alpha1.Limits,
			Lookup: admission.ServiceLookup[*horizonv1alpha1.Horizon]{
				NewList: func() client.ObjectList { return &horizonv1alpha1.HorizonList{} }, Cluster: settings,
			}.Check,
		},
		&admission.Webhook[*c5c3v1alpha1.ControlPlane]{
			Object:   &c5c3v1alpha1.ControlPlane{},
			Kind:     c5c3v1alpha1.GroupVersion.WithKind("ControlPlane").GroupKind(),
			Resource: c5c3v1alpha1.GroupVersion.WithResource("controlplanes").GroupResource(),
			Defaults: c5c3v1alpha1.SetDefaults, Rules: c5c3v1alpha1.Validate,
			Limits: c5c3v1alpha1.Limits, UpdateRules: c5c3v1alpha1.ValidateUpdate,
		},
	}
}
