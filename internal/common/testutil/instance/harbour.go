package instance

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/release"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Definition describes the service.
var Definition = service.Definition{
	Kind: "Harbour", CodeName: "harbour", CatalogType: "harbour", Port: 7000, UserID: 1000,
	ConfigDir:   "/etc/harbour/harbour.conf.d/",
	Environment: []corev1.EnvVar{{Name: "HARBOUR", Value: "open"}},
	Application: service.Application{
		Distribution: "harbour", Script: "/bin/harbour-api", Module: "harbour.wsgi:application",
		Majors: release.Majors{First: release.Release{Year: 2025, Minor: 1}, Major: 7},
	},
}

var groupVersion = schema.GroupVersion{Group: "test.openstack.c5c3.io", Version: "v1"}

// Kind is the kind of the resource.
var Kind = groupVersion.WithKind(Definition.Kind)

// Harbour is the resource of the service.
type Harbour struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   HarbourSpec
	Status commonv1.ServiceStatus
}

// HarbourSpec is its spec, that of a service with a database and options.
type HarbourSpec struct {
	commonv1.ServiceSpec
	commonv1.DataSpec
	commonv1.OptionsSpec
}

var (
	_ service.Resource          = (*Harbour)(nil)
	_ commonv1.DataDescriber    = (*Harbour)(nil)
	_ commonv1.OptionsDescriber = (*Harbour)(nil)
)

// DeepCopyObject implements [runtime.Object].
func (h *Harbour) DeepCopyObject() runtime.Object {
	copied := &Harbour{TypeMeta: h.TypeMeta}
	h.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	h.Spec.ServiceSpec.DeepCopyInto(&copied.Spec.ServiceSpec)
	h.Spec.DataSpec.DeepCopyInto(&copied.Spec.DataSpec)
	h.Spec.OptionsSpec.DeepCopyInto(&copied.Spec.OptionsSpec)
	h.Status.DeepCopyInto(&copied.Status)
	return copied
}

// HarbourList is a list of them.
type HarbourList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Harbour
}

// NewList returns an empty list.
func NewList() client.ObjectList { return &HarbourList{} }

// DeepCopyObject implements [runtime.Object].
func (l *HarbourList) DeepCopyObject() runtime.Object {
	copied := &HarbourList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		if item, ok := l.Items[i].DeepCopyObject().(*Harbour); ok {
			copied.Items = append(copied.Items, *item)
		}
	}
	return copied
}

// ServiceSpec implements [service.Resource].
func (h *Harbour) ServiceSpec() *commonv1.ServiceSpec { return &h.Spec.ServiceSpec }

// DataSpec implements [commonv1.DataDescriber].
func (h *Harbour) DataSpec() *commonv1.DataSpec { return &h.Spec.DataSpec }

// OptionsSpec implements [commonv1.OptionsDescriber].
func (h *Harbour) OptionsSpec() *commonv1.OptionsSpec { return &h.Spec.OptionsSpec }

// ServiceStatus implements [service.Resource].
func (h *Harbour) ServiceStatus() *commonv1.ServiceStatus { return &h.Status }

// GetConditions implements [service.Resource].
func (h *Harbour) GetConditions() []metav1.Condition { return h.Status.Conditions }

// SetConditions implements [service.Resource].
func (h *Harbour) SetConditions(conditions []metav1.Condition) { h.Status.Conditions = conditions }

// SetObservedGeneration implements [service.Resource].
func (h *Harbour) SetObservedGeneration(generation int64) { h.Status.ObservedGeneration = generation }

// StatusCopy implements [service.Resource].
func (h *Harbour) StatusCopy() any { return *h.Status.DeepCopy() }

// Brownfield returns a defaulted resource with an external database and cache.
func Brownfield() *Harbour {
	h := &Harbour{
		ObjectMeta: metav1.ObjectMeta{Name: "harbour", Namespace: "openstack", UID: "harbour-uid"},
		Spec: HarbourSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/harbour", Tag: "2025.2"},
				Cache: commonv1.CacheSpec{Servers: []string{"memcached:11211"}},
			},
			DataSpec: commonv1.DataSpec{Database: commonv1.DatabaseSpec{
				Host: "db.example.com", Database: "harbour", SecretRef: commonv1.SecretRefSpec{Name: "harbour-db"},
			}},
		},
	}
	h.Spec.ServiceSpec.SetDefaults()
	h.Spec.DataSpec.SetDefaults()
	return h
}
