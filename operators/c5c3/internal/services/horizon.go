package services

import (
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
)

// +kubebuilder:rbac:groups=horizon.openstack.c5c3.io,resources=horizons,verbs=get;list;watch;create;patch;delete

// Horizon is the dashboard. Keystone only knows its URL.
var Horizon = Service{
	name:        "horizon",
	Kind:        horizonv1alpha1.GroupVersion.WithKind("Horizon"),
	AddToScheme: horizonv1alpha1.AddToScheme,

	condition: c5c3v1alpha1.ConditionHorizonReady,
	reasons: reasons{
		ready: c5c3v1alpha1.ReasonHorizonReady, notManaged: c5c3v1alpha1.ReasonHorizonNotManaged,
		notInstalled: c5c3v1alpha1.ReasonHorizonNotInstalled, failed: c5c3v1alpha1.ReasonHorizonError,
		rejected: c5c3v1alpha1.ReasonHorizonProjectionRejected, waiting: c5c3v1alpha1.ReasonWaitingForHorizon,
	},
	needs: []string{Keystone.Kind.Kind}, heldBack: c5c3v1alpha1.ReasonWaitingForKeystone,

	wanted: func(cp *c5c3v1alpha1.ControlPlane) bool { return cp.Spec.Services.Horizon != nil },
	image:  func(cp *c5c3v1alpha1.ControlPlane) *commonv1.ImageSpec { return cp.Spec.Services.Horizon.Image },

	childName: (*c5c3v1alpha1.ControlPlane).HorizonName,
	Empty:     func() child { return &horizonv1alpha1.Horizon{} },
	child:     func(cp *c5c3v1alpha1.ControlPlane, with given) (child, error) { return horizonChild(cp, with), nil },
	pods:      horizonv1alpha1.PodSelector,
}

const horizonRepository = "ghcr.io/c5c3/horizon"

// horizonChild builds the Horizon of a control plane. Fields that it leaves unset keep the
// Horizon's defaults, or what other managers have set.
func horizonChild(cp *c5c3v1alpha1.ControlPlane, with given) *horizonv1alpha1.Horizon {
	service := cp.Spec.Services.Horizon
	return &horizonv1alpha1.Horizon{
		ObjectMeta: controlplane.ChildMeta(cp, cp.HorizonName()),
		Spec: horizonv1alpha1.HorizonSpec{
			ServiceSpec:  specOf(cp, &service.ServiceSpec, horizonRepository),
			Identity:     horizonIdentity(cp, with.domains),
			SecretKeyRef: service.SecretKeyRef.DeepCopy(),
		},
	}
}

// horizonIdentity is where users log in. A browser goes to a provider, and comes back, by way of Keystone's
// Gateway, and comes back only to a dashboard that Keystone trusts.
func horizonIdentity(cp *c5c3v1alpha1.ControlPlane, domains []identityDomain) horizonv1alpha1.HorizonIdentitySpec {
	identity := horizonv1alpha1.HorizonIdentitySpec{AuthURL: controlplane.AuthURL(cp)}
	comesBack := len(trustedDashboards(cp)) > 0 && cp.Spec.Services.Keystone.Gateway != nil
	for _, domain := range domains {
		switch {
		case domain.IdentityProvider == "":
			identity.Domains = append(identity.Domains, domain.Name)
		case comesBack:
			identity.PublicURL = publicEndpoint(cp.Spec.Services.Keystone)
			identity.Providers = append(identity.Providers, horizonv1alpha1.HorizonIdentityProvider{
				Name: domain.IdentityProvider, Protocol: domain.Protocol,
			})
		}
	}
	return identity
}
