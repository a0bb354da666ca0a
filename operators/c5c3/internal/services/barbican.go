package services

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// +kubebuilder:rbac:groups=barbican.openstack.c5c3.io,resources=barbicans;barbicansecretstores,verbs=get;list;watch;create;patch;delete

// Barbican is the Key Manager service.
var Barbican = Service{
	name:        "barbican",
	Kind:        barbicanv1alpha1.GroupVersion.WithKind(barbicanv1alpha1.Kind),
	AddToScheme: barbicanv1alpha1.AddToScheme,

	condition: c5c3v1alpha1.ConditionBarbicanReady,
	reasons: reasons{
		ready: c5c3v1alpha1.ReasonBarbicanReady, notManaged: c5c3v1alpha1.ReasonBarbicanNotManaged,
		notInstalled: c5c3v1alpha1.ReasonBarbicanNotInstalled, failed: c5c3v1alpha1.ReasonBarbicanError,
		rejected: c5c3v1alpha1.ReasonBarbicanProjectionRejected, rollBackRefused: c5c3v1alpha1.ReasonRollBackRefused,
		waiting: c5c3v1alpha1.ReasonWaitingForBarbican, finalizing: c5c3v1alpha1.ReasonFinalizingBarbican,
	},
	needs: []string{Keystone.Kind.Kind}, heldBack: c5c3v1alpha1.ReasonWaitingForKeystone,

	wanted: func(cp *c5c3v1alpha1.ControlPlane) bool { return cp.Spec.Services.Barbican != nil },
	image:  func(cp *c5c3v1alpha1.ControlPlane) *commonv1.ImageSpec { return cp.Spec.Services.Barbican.Image },

	childName:     (*c5c3v1alpha1.ControlPlane).BarbicanName,
	Empty:         func() child { return &barbicanv1alpha1.Barbican{} },
	child:         func(cp *c5c3v1alpha1.ControlPlane, with given) (child, error) { return barbicanChild(cp, with), nil },
	allowDeletion: c5c3v1alpha1.AnnotationAllowBarbicanDeletion,
	Parts: &Parts{
		Kind:   barbicanv1alpha1.GroupVersion.WithKind(barbicanv1alpha1.KindStore),
		Empty:  func() part { return &barbicanv1alpha1.BarbicanSecretStore{} },
		list:   func() client.ObjectList { return &barbicanv1alpha1.BarbicanSecretStoreList{} },
		wanted: secretStores,
	},

	Database: &Database{
		Secret: func(cp *c5c3v1alpha1.ControlPlane) string { return cp.BarbicanDatabaseSecretRef().Name },
		Path: func(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) string {
			return barbicanv1alpha1.StorePath(c, cp.Namespace, cp.Name, "db")
		},
		name: func(cp *c5c3v1alpha1.ControlPlane) string { return cp.Spec.Services.Barbican.Database.Database },
		keys: func(cp *c5c3v1alpha1.ControlPlane) []string {
			return []string{barbicanv1alpha1.KeySecretName(cp.BarbicanName())}
		},
		runAgain:  barbicanv1alpha1.AnnotationRunAgain,
		finalizer: "c5c3.io/barbican-teardown", stalled: c5c3v1alpha1.EventBarbicanTeardownStalled,
	},
	pods: barbicanv1alpha1.PodSelector,

	hasUser: true,

	catalogType: barbicanv1alpha1.CatalogType,
	endpoints: apiEndpoints((*c5c3v1alpha1.ControlPlane).BarbicanName, barbicanv1alpha1.GatewayEndpoint, barbicanv1alpha1.InternalEndpoint,
		func(cp *c5c3v1alpha1.ControlPlane) (*c5c3v1alpha1.ServiceSpec, *c5c3v1alpha1.ServiceAPISpec) {
			return &cp.Spec.Services.Barbican.ServiceSpec, &cp.Spec.Services.Barbican.ServiceAPISpec
		}),
}

const barbicanRepository = "ghcr.io/c5c3/barbican"

// barbicanChild builds the Barbican of a control plane. Fields that it leaves unset
// keep the Barbican's defaults, or what other managers have set.
func barbicanChild(cp *c5c3v1alpha1.ControlPlane, with given) *barbicanv1alpha1.Barbican {
	service := cp.Spec.Services.Barbican
	barbican := &barbicanv1alpha1.Barbican{
		ObjectMeta: controlplane.ChildMeta(cp, cp.BarbicanName()),
		Spec: barbicanv1alpha1.BarbicanSpec{
			ServiceSpec: specOf(cp, &service.ServiceSpec, barbicanRepository),
			DataSpec:    dataOf(cp, service.Database.Database, cp.BarbicanDatabaseSecretRef()),
			OptionsSpec: optionsOf(cp, &service.ServiceAPISpec, with),
		},
	}
	if len(service.SecretStores) > 0 {
		barbican.Spec.DefaultSecretStore = service.SecretStores[0].Name
	}
	return barbican
}

// secretStores builds the secret stores of a control plane's Barbican.
func secretStores(cp *c5c3v1alpha1.ControlPlane) []part {
	service := cp.Spec.Services.Barbican
	stores := make([]part, 0, len(service.SecretStores))
	for _, store := range service.SecretStores {
		stores = append(stores, &barbicanv1alpha1.BarbicanSecretStore{
			ObjectMeta: controlplane.ChildMeta(cp, store.Name),
			Spec: barbicanv1alpha1.BarbicanSecretStoreSpec{
				BarbicanRef: commonv1.ServiceReference{Name: cp.BarbicanName()}, SecretStoreSpec: *store.SecretStoreSpec.DeepCopy(),
			},
		})
	}
	return stores
}
