package controller

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// Trim drops from objects on their way into the cache the records of who wrote
// which field, where nothing reads them. They are a third of an object that several
// operators write.
func Trim(obj any) (any, error) {
	switch cached := obj.(type) {
	case *corev1.Secret:
		// Secrets are updated as a whole: what is not there would be taken away.
	case *c5c3v1alpha1.ControlPlane, *c5c3v1alpha1.CredentialRotation, *c5c3v1alpha1.SecretAggregate:
		// Without any record, a write of the status leaves those that are stored.
		if own, known := obj.(client.Object); known {
			own.SetManagedFields(nil)
		}
	case client.Object:
		apply.KeepOwnFields(cached)
	}
	return obj, nil
}
