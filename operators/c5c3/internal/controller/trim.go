package controller

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/intern"
	"github.com/c5c3/forge/internal/common/secrets"
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
	switch obj := obj.(type) {
	case *corev1.Secret:
		obj.ManagedFields = nil
		secrets.Condense(obj)
	case *c5c3v1alpha1.ControlPlane, *c5c3v1alpha1.CredentialRotation, *metav1.PartialObjectMetadata:
		// The operator applies none of these, nor Secrets, and the API server keeps managed
		// fields when an update omits them.
		cached.SetManagedFields(nil)
	default:
		if err := apply.Condense(cached, pass.FieldManager); err != nil {
			return nil, err
		}
	}
	intern.Object(cached)
	return obj, nil
}
