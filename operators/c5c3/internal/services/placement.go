package services

import (
	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// +kubebuilder:rbac:groups=placement.openstack.c5c3.io,resources=placements,verbs=get;list;watch;create;patch;delete

// Placement is the Placement service.
var Placement = Service{
	name:        "placement",
	Kind:        placementv1alpha1.GroupVersion.WithKind("Placement"),
	AddToScheme: placementv1alpha1.AddToScheme,

	condition: c5c3v1alpha1.ConditionPlacementReady,
	reasons: reasons{
		ready: c5c3v1alpha1.ReasonPlacementReady, notManaged: c5c3v1alpha1.ReasonPlacementNotManaged,
		notInstalled: c5c3v1alpha1.ReasonPlacementNotInstalled, failed: c5c3v1alpha1.ReasonPlacementError,
		rejected: c5c3v1alpha1.ReasonPlacementProjectionRejected, rollBackRefused: c5c3v1alpha1.ReasonRollBackRefused,
		waiting: c5c3v1alpha1.ReasonWaitingForPlacement, finalizing: c5c3v1alpha1.ReasonFinalizingPlacement,
	},
	needs: []string{Keystone.Kind.Kind}, heldBack: c5c3v1alpha1.ReasonWaitingForKeystone,

	wanted: func(cp *c5c3v1alpha1.ControlPlane) bool { return cp.Spec.Services.Placement != nil },
	image:  func(cp *c5c3v1alpha1.ControlPlane) *commonv1.ImageSpec { return cp.Spec.Services.Placement.Image },

	childName:     (*c5c3v1alpha1.ControlPlane).PlacementName,
	Empty:         func() child { return &placementv1alpha1.Placement{} },
	child:         func(cp *c5c3v1alpha1.ControlPlane, with given) (child, error) { return placementChild(cp, with), nil },
	allowDeletion: c5c3v1alpha1.AnnotationAllowPlacementDeletion,

	Database: &Database{
		Secret: func(cp *c5c3v1alpha1.ControlPlane) string { return cp.PlacementDatabaseSecretRef().Name },
		Path: func(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) string {
			return placementv1alpha1.StorePath(c, cp.Namespace, cp.Name, "db")
		},
		name:      func(cp *c5c3v1alpha1.ControlPlane) string { return cp.Spec.Services.Placement.Database.Database },
		runAgain:  placementv1alpha1.AnnotationRunAgain,
		finalizer: "c5c3.io/placement-teardown", stalled: c5c3v1alpha1.EventPlacementTeardownStalled,
	},
	pods: placementv1alpha1.PodSelector,

	hasUser: true,

	catalogType: placementv1alpha1.CatalogType,
	endpoints: apiEndpoints((*c5c3v1alpha1.ControlPlane).PlacementName, placementv1alpha1.GatewayEndpoint, placementv1alpha1.InternalEndpoint,
		func(cp *c5c3v1alpha1.ControlPlane) (*c5c3v1alpha1.ServiceSpec, *c5c3v1alpha1.ServiceAPISpec) {
			return &cp.Spec.Services.Placement.ServiceSpec, &cp.Spec.Services.Placement.ServiceAPISpec
		}),
}

const placementRepository = "ghcr.io/c5c3/placement"

// placementChild builds the Placement of a control plane. Fields that it leaves unset
// keep the Placement's defaults, or what other managers have set.
func placementChild(cp *c5c3v1alpha1.ControlPlane, with given) *placementv1alpha1.Placement {
	service := cp.Spec.Services.Placement
	return &placementv1alpha1.Placement{
		ObjectMeta: controlplane.ChildMeta(cp, cp.PlacementName()),
		Spec: placementv1alpha1.PlacementSpec{
			ServiceSpec: specOf(cp, &service.ServiceSpec, placementRepository),
			DataSpec:    dataOf(cp, service.Database.Database, cp.PlacementDatabaseSecretRef()),
			OptionsSpec: optionsOf(cp, &service.ServiceAPISpec, with),
		},
	}
}
