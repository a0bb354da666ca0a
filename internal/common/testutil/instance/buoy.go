package instance

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Buoy is the resource of a service that has neither a database nor options.
type Buoy struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   commonv1.ServiceSpec
	Status commonv1.ServiceStatus
}

var _ service.Resource = (*Buoy)(nil)

// DeepCopyObject implements [runtime.Object].
func (b *Buoy) DeepCopyObject() runtime.Object {
	copied := &Buoy{TypeMeta: b.TypeMeta}
	b.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	b.Spec.DeepCopyInto(&copied.Spec)
	b.Status.DeepCopyInto(&copied.Status)
	return copied
}

// BuoyList is a list of them.
type BuoyList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Buoy
}

// DeepCopyObject implements [runtime.Object].
func (l *BuoyList) DeepCopyObject() runtime.Object {
	copied := &BuoyList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		if item, ok := l.Items[i].DeepCopyObject().(*Buoy); ok {
			copied.Items = append(copied.Items, *item)
		}
	}
	return copied
}

// ServiceSpec implements [service.Resource].
func (b *Buoy) ServiceSpec() *commonv1.ServiceSpec { return &b.Spec }

// ServiceStatus implements [service.Resource].
func (b *Buoy) ServiceStatus() *commonv1.ServiceStatus { return &b.Status }

// GetConditions implements [service.Resource].
func (b *Buoy) GetConditions() []metav1.Condition { return b.Status.Conditions }

// SetConditions implements [service.Resource].
func (b *Buoy) SetConditions(conditions []metav1.Condition) { b.Status.Conditions = conditions }

// SetObservedGeneration implements [service.Resource].
func (b *Buoy) SetObservedGeneration(generation int64) { b.Status.ObservedGeneration = generation }

// StatusCopy implements [service.Resource].
func (b *Buoy) StatusCopy() any { return *b.Status.DeepCopy() }

// WithoutDatabase returns a defaulted resource with an external cache.
func WithoutDatabase() *Buoy {
	b := &Buoy{
		ObjectMeta: metav1.ObjectMeta{Name: "harbour", Namespace: "openstack", UID: "buoy-uid"},
		Spec: commonv1.ServiceSpec{
			Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/harbour", Tag: "2025.2"},
			Cache: commonv1.CacheSpec{Servers: []string{"memcached:11211"}},
		},
	}
	b.Spec.SetDefaults()
	return b
}
