package controller

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/intern"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Trim is the cache transform that drops fields nothing reads, and shares equal parts of
// objects.
func Trim(obj any) (any, error) {
	cached, known := obj.(client.Object)
	if !known {
		return obj, nil
	}
	switch obj.(type) {
	case *c5c3v1alpha1.ControlPlane, *c5c3v1alpha1.CredentialRotation, *corev1.Secret, *metav1.PartialObjectMetadata:
		// The operator applies none of these, and the API server keeps managed fields
		// when an update omits them.
		cached.SetManagedFields(nil)
	default:
		if err := apply.Condense(cached, pass.FieldManager); err != nil {
			return nil, err
		}
	}
	intern.Object(cached)
	return obj, nil
}
