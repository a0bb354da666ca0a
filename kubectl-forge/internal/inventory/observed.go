package inventory

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// Conditioned is an object of one of the operators' kinds.
type Conditioned interface {
	client.Object
	GetConditions() []metav1.Condition
}

// IsCurrent reports whether the conditions of a ControlPlane or a service are about its spec, and it is not being
// deleted.
func IsCurrent(obj Conditioned) bool { return IsObserved(obj) && obj.GetDeletionTimestamp() == nil }

// IsObserved reports whether the operator has observed the spec of a ControlPlane or a service.
func IsObserved(obj Conditioned) bool { return ObservedGeneration(obj) == obj.GetGeneration() }

// ObservedGeneration is the generation of the spec of a ControlPlane or a service that its operator has last observed.
func ObservedGeneration(obj Conditioned) int64 {
	switch obj := obj.(type) {
	case *c5c3v1alpha1.ControlPlane:
		return obj.Status.ObservedGeneration
	case Resource:
		return obj.ServiceStatus().ObservedGeneration
	}
	return 0
}
