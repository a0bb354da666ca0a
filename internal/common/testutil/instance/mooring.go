package instance

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// MooringField is the field of a [Mooring] with the name of its [Marina], and the index of it.
const MooringField = "spec.marinaRef.name"

// Marina is a [Harbour] with attached resources.
type Marina struct {
	Harbour

	Moorings []commonv1.Attached
}

// DeepCopyObject implements [runtime.Object].
func (m *Marina) DeepCopyObject() runtime.Object {
	copied := &Marina{}
	if harbour, ok := m.Harbour.DeepCopyObject().(*Harbour); ok {
		copied.Harbour = *harbour
	}
	copied.Moorings = append(copied.Moorings, m.Moorings...)
	return copied
}

// Attached returns the attached resources in the status.
func (m *Marina) Attached() *[]commonv1.Attached { return &m.Moorings }

// Mooring is attached to a [Marina].
type Mooring struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   MooringSpec
	Status commonv1.AttachmentStatus
}

// MooringSpec is its spec.
type MooringSpec struct {
	Marina, Berth, Secret string
}

// MooringList is a list of them.
type MooringList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Mooring
}

// DeepCopyObject implements [runtime.Object].
func (m *Mooring) DeepCopyObject() runtime.Object {
	copied := &Mooring{TypeMeta: m.TypeMeta, Spec: m.Spec}
	m.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	m.Status.DeepCopyInto(&copied.Status)
	return copied
}

// DeepCopyObject implements [runtime.Object].
func (l *MooringList) DeepCopyObject() runtime.Object {
	copied := &MooringList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		if item, ok := l.Items[i].DeepCopyObject().(*Mooring); ok {
			copied.Items = append(copied.Items, *item)
		}
	}
	return copied
}

// ServiceName returns the name of the marina.
func (m *Mooring) ServiceName() string { return m.Spec.Marina }

// AttachmentStatus returns the status for steps to modify.
func (m *Mooring) AttachmentStatus() *commonv1.AttachmentStatus { return &m.Status }

// GetConditions returns the conditions of the status.
func (m *Mooring) GetConditions() []metav1.Condition { return m.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (m *Mooring) SetConditions(conditions []metav1.Condition) { m.Status.Conditions = conditions }

// SetObservedGeneration records the generation that the status describes.
func (m *Mooring) SetObservedGeneration(generation int64) { m.Status.ObservedGeneration = generation }

// StatusCopy returns a deep copy of the status.
func (m *Mooring) StatusCopy() any { return *m.Status.DeepCopy() }

// WithMoorings returns a defaulted marina with an external database and cache.
func WithMoorings() *Marina { return &Marina{Harbour: *Brownfield()} }

func indexMarina(obj client.Object) []string {
	if m, ok := obj.(*Mooring); ok {
		return []string{m.Spec.Marina}
	}
	return nil
}
