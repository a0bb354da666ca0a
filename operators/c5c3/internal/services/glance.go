package services

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

// +kubebuilder:rbac:groups=glance.openstack.c5c3.io,resources=glances;glancebackends,verbs=get;list;watch;create;patch;delete

// Glance is the Image service.
var Glance = Service{
	name:        "glance",
	Kind:        glancev1alpha1.GroupVersion.WithKind(glancev1alpha1.Kind),
	AddToScheme: glancev1alpha1.AddToScheme,

	condition: c5c3v1alpha1.ConditionGlanceReady,
	reasons: reasons{
		ready: c5c3v1alpha1.ReasonGlanceReady, notManaged: c5c3v1alpha1.ReasonGlanceNotManaged,
		notInstalled: c5c3v1alpha1.ReasonGlanceNotInstalled, failed: c5c3v1alpha1.ReasonGlanceError,
		rejected: c5c3v1alpha1.ReasonGlanceProjectionRejected, rollBackRefused: c5c3v1alpha1.ReasonRollBackRefused,
		waiting: c5c3v1alpha1.ReasonWaitingForGlance, finalizing: c5c3v1alpha1.ReasonFinalizingGlance,
	},
	needs: []string{Keystone.Kind.Kind}, heldBack: c5c3v1alpha1.ReasonWaitingForKeystone,

	wanted: func(cp *c5c3v1alpha1.ControlPlane) bool { return cp.Spec.Services.Glance != nil },
	image:  func(cp *c5c3v1alpha1.ControlPlane) *commonv1.ImageSpec { return cp.Spec.Services.Glance.Image },

	childName:     (*c5c3v1alpha1.ControlPlane).GlanceName,
	Empty:         func() child { return &glancev1alpha1.Glance{} },
	child:         func(cp *c5c3v1alpha1.ControlPlane, with given) (child, error) { return glanceChild(cp, with), nil },
	allowDeletion: c5c3v1alpha1.AnnotationAllowGlanceDeletion,
	Parts: &Parts{
		Kind:   glancev1alpha1.GroupVersion.WithKind(glancev1alpha1.KindBackend),
		Empty:  func() part { return &glancev1alpha1.GlanceBackend{} },
		list:   func() client.ObjectList { return &glancev1alpha1.GlanceBackendList{} },
		wanted: glanceBackends,
	},

	Database: &Database{
		Secret: func(cp *c5c3v1alpha1.ControlPlane) string { return cp.GlanceDatabaseSecretRef().Name },
		Path: func(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) string {
			return glancev1alpha1.StorePath(c, cp.Namespace, cp.Name, "db")
		},
		name:      func(cp *c5c3v1alpha1.ControlPlane) string { return cp.Spec.Services.Glance.Database.Database },
		runAgain:  glancev1alpha1.AnnotationRunAgain,
		finalizer: "c5c3.io/glance-teardown", stalled: c5c3v1alpha1.EventGlanceTeardownStalled,
	},
	pods: glancev1alpha1.PodSelector,

	hasUser: true,
	// It deletes the trust with which it may finish an upload after the token of its client has
	// expired.
	usesTrusts: true,

	catalogType: glancev1alpha1.CatalogType,
	endpoints: apiEndpoints((*c5c3v1alpha1.ControlPlane).GlanceName, glancev1alpha1.GatewayEndpoint, glancev1alpha1.InternalEndpoint,
		func(cp *c5c3v1alpha1.ControlPlane) (*c5c3v1alpha1.ServiceSpec, *c5c3v1alpha1.ServiceAPISpec) {
			return &cp.Spec.Services.Glance.ServiceSpec, &cp.Spec.Services.Glance.ServiceAPISpec
		}),
}

const glanceRepository = "ghcr.io/c5c3/glance"

// glanceChild builds the Glance of a control plane. Fields that it leaves unset
// keep the Glance's defaults, or what other managers have set.
func glanceChild(cp *c5c3v1alpha1.ControlPlane, with given) *glancev1alpha1.Glance {
	service := cp.Spec.Services.Glance
	glance := &glancev1alpha1.Glance{
		ObjectMeta: controlplane.ChildMeta(cp, cp.GlanceName()),
		Spec: glancev1alpha1.GlanceSpec{
			ServiceSpec: specOf(cp, &service.ServiceSpec, glanceRepository),
			DataSpec:    dataOf(cp, service.Database.Database, cp.GlanceDatabaseSecretRef()),
			OptionsSpec: optionsOf(cp, &service.ServiceAPISpec, with),
		},
	}
	if len(service.Backends) > 0 {
		glance.Spec.DefaultBackend = service.Backends[0].Name
	}
	return glance
}

// glanceBackends builds the backends of a control plane's Glance. Each has the name of the store
// in Glance, by which users name it.
func glanceBackends(cp *c5c3v1alpha1.ControlPlane) []part {
	service := cp.Spec.Services.Glance
	backends := make([]part, 0, len(service.Backends))
	for _, backend := range service.Backends {
		backends = append(backends, &glancev1alpha1.GlanceBackend{
			ObjectMeta: controlplane.ChildMeta(cp, backend.Name),
			Spec: glancev1alpha1.GlanceBackendSpec{
				GlanceRef: commonv1.ServiceReference{Name: cp.GlanceName()}, BackendSpec: *backend.BackendSpec.DeepCopy(),
			},
		})
	}
	return backends
}
