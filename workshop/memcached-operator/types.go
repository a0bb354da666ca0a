package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

var groupVersion = schema.GroupVersion{Group: "memcached.c5c3.io", Version: "v1beta1"}

// Memcached is a set of memcached servers behind one Service of the same name.
type Memcached struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   MemcachedSpec   `json:"spec,omitzero"`
	Status MemcachedStatus `json:"status,omitzero"`
}

// MemcachedSpec is the desired state.
type MemcachedSpec struct {
	Replicas *int32 `json:"replicas,omitempty"`
	Image    string `json:"image,omitempty"`
}

// MemcachedStatus is the observed state.
type MemcachedStatus struct {
	ReadyReplicas      int32              `json:"readyReplicas,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// MemcachedList is a list of Memcacheds.
type MemcachedList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []Memcached `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (m *Memcached) DeepCopyObject() runtime.Object { return m.deepCopy() }

func (m *Memcached) deepCopy() *Memcached {
	c := *m
	c.ObjectMeta = *m.ObjectMeta.DeepCopy()
	if m.Spec.Replicas != nil {
		c.Spec.Replicas = ptr.To(*m.Spec.Replicas)
	}
	c.Status.Conditions = slices.Clone(m.Status.Conditions)
	return &c
}

// DeepCopyObject implements runtime.Object.
func (l *MemcachedList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = nil
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].deepCopy())
	}
	return &c
}

func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &Memcached{}, &MemcachedList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}
