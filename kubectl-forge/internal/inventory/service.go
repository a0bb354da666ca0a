package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// ServiceKind describes a kind of API service. Everything that concerns all services
// loops over [ServiceKinds].
type ServiceKind struct {
	schema.GroupVersionKind
	AddToScheme func(*runtime.Scheme) error
	// Empty returns an object to read into, and List a list.
	Empty func() Resource
	List  func() client.ObjectList
	// SelectorLabels select the API pods of the instance with the name.
	SelectorLabels func(name string) map[string]string
	// TaskName is the label app.kubernetes.io/name of the pods of its Jobs.
	TaskName string
	// Vocabularies list the kind's conditions.
	Vocabularies func() []vocabulary.Kind
	// SLURP reports whether an upgrade may skip a release as [release.Toward] describes.
	SLURP bool
}

// ServiceKinds are the kinds of API services, in the order in which they are shown.
var ServiceKinds = []*ServiceKind{
	{
		GroupVersionKind: keystonev1alpha1.GroupVersion.WithKind(KindKeystone), AddToScheme: keystonev1alpha1.AddToScheme,
		Empty:          func() Resource { return &keystonev1alpha1.Keystone{} },
		List:           func() client.ObjectList { return &keystonev1alpha1.KeystoneList{} },
		SelectorLabels: keystonev1alpha1.SelectorLabels, TaskName: keystonev1alpha1.TaskName,
		Vocabularies: keystonev1alpha1.Vocabularies, SLURP: keystonev1alpha1.SLURP,
	},
	{
		GroupVersionKind: barbicanv1alpha1.GroupVersion.WithKind(barbicanv1alpha1.Kind), AddToScheme: barbicanv1alpha1.AddToScheme,
		Empty:          func() Resource { return &barbicanv1alpha1.Barbican{} },
		List:           func() client.ObjectList { return &barbicanv1alpha1.BarbicanList{} },
		SelectorLabels: barbicanv1alpha1.SelectorLabels, TaskName: barbicanv1alpha1.TaskName,
		Vocabularies: barbicanv1alpha1.Vocabularies, SLURP: barbicanv1alpha1.SLURP,
	},
	{
		GroupVersionKind: placementv1alpha1.GroupVersion.WithKind(KindPlacement), AddToScheme: placementv1alpha1.AddToScheme,
		Empty:          func() Resource { return &placementv1alpha1.Placement{} },
		List:           func() client.ObjectList { return &placementv1alpha1.PlacementList{} },
		SelectorLabels: placementv1alpha1.SelectorLabels, TaskName: placementv1alpha1.TaskName,
		Vocabularies: placementv1alpha1.Vocabularies, SLURP: placementv1alpha1.SLURP,
	},
	{
		GroupVersionKind: glancev1alpha1.GroupVersion.WithKind(glancev1alpha1.Kind), AddToScheme: glancev1alpha1.AddToScheme,
		Empty:          func() Resource { return &glancev1alpha1.Glance{} },
		List:           func() client.ObjectList { return &glancev1alpha1.GlanceList{} },
		SelectorLabels: glancev1alpha1.SelectorLabels, TaskName: glancev1alpha1.TaskName,
		Vocabularies: glancev1alpha1.Vocabularies, SLURP: glancev1alpha1.SLURP,
	},
	{
		GroupVersionKind: horizonv1alpha1.GroupVersion.WithKind(horizonv1alpha1.Kind), AddToScheme: horizonv1alpha1.AddToScheme,
		Empty:          func() Resource { return &horizonv1alpha1.Horizon{} },
		List:           func() client.ObjectList { return &horizonv1alpha1.HorizonList{} },
		SelectorLabels: horizonv1alpha1.SelectorLabels, TaskName: horizonv1alpha1.TaskName,
		// No schema is behind its release, so any release may follow another.
		Vocabularies: horizonv1alpha1.Vocabularies, SLURP: true,
	},
}

// ServiceKindOf returns the kind with the name, nil when it is not one of an API service.
func ServiceKindOf(kind string) *ServiceKind {
	i := slices.IndexFunc(ServiceKinds, func(k *ServiceKind) bool { return k.Kind == kind })
	if i < 0 {
		return nil
	}
	return ServiceKinds[i]
}

// Informational are the types of the conditions that do not affect Ready.
func (k *ServiceKind) Informational() []string {
	var types []string
	for _, kind := range k.Vocabularies() {
		for _, condition := range kind.Conditions {
			if kind.Kind == k.Kind && !condition.Aggregated && !slices.Contains(Summaries, condition.Type) {
				types = append(types, condition.Type)
			}
		}
	}
	return types
}

// Summaries are conditions of the whole resource. All operators use the same names.
var Summaries = vocabulary.Types(vocabulary.Summary())

// Resource is an object of a kind of API service.
type Resource interface {
	Conditioned
	ServiceSpec() *commonv1.ServiceSpec
	ServiceStatus() *commonv1.ServiceStatus
}

// Instance is an instance of an API service, such as a Keystone.
type Instance struct {
	Resource
	Of *ServiceKind
}

// Ref returns the reference to the service.
func (s Instance) Ref() Ref { return Ref{s.Of.Kind, s.GetNamespace(), s.GetName()} }

// SameRelease reports whether two image tags belong to the same release. Tags that are
// no releases do not.
func SameRelease(a, b string) bool {
	x, errX := release.Parse(a)
	y, errY := release.Parse(b)
	return errX == nil && errY == nil && x.SameRelease(y)
}
