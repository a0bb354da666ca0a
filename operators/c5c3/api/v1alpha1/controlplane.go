package v1alpha1

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnotationAllowKeystoneDeletion on a ControlPlane lets the operator delete the
// Keystone when services.keystone is removed from the spec. Its value is a
// boolean. Without it the Keystone is kept and no longer managed.
const AnnotationAllowKeystoneDeletion = "c5c3.io/allow-keystone-deletion"

// KeystoneName is the name of the Keystone of a control plane.
func (cp *ControlPlane) KeystoneName() string { return cp.Name + "-keystone" }

// DatabaseSecretName is the name of the Secret with the database's credentials
// that the operator creates when it manages the database.
func (cp *ControlPlane) DatabaseSecretName() string { return cp.Name + "-keystone-db-credentials" }

// AdminSecretName is the name of the Secret with the administrator's password
// that the operator creates when it manages the database.
func (cp *ControlPlane) AdminSecretName() string { return cp.Name + "-keystone-admin-credentials" }

// ApplicationCredentialName is the name of the K-ORC ApplicationCredential of
// the administrator, and of the Secret with its secret.
func (cp *ControlPlane) ApplicationCredentialName() string { return cp.Name + "-admin-app-credential" }

// PasswordCloudSecretName is the name of the Secret with the clouds.yaml that
// K-ORC makes the application credential with.
func (cp *ControlPlane) PasswordCloudSecretName() string { return cp.Name + "-admin-password-cloud" }

// ReplicasOrDefault is the number of database servers the operator creates.
func (d InfrastructureDatabaseSpec) ReplicasOrDefault() int32 {
	if d.Replicas == nil {
		return DefaultDatabaseReplicas
	}
	return *d.Replicas
}

// StorageSizeOrDefault is the size of each of their volumes, an error when it is
// no quantity.
func (d InfrastructureDatabaseSpec) StorageSizeOrDefault() (resource.Quantity, error) {
	if d.StorageSize == "" {
		return resource.ParseQuantity(DefaultDatabaseStorageSize)
	}
	return resource.ParseQuantity(d.StorageSize)
}

const day = 24 * time.Hour

// RotationDays is the interval in days. ok is false unless it is a positive
// whole number of them.
func RotationDays(interval metav1.Duration) (days int64, ok bool) {
	if interval.Duration < day || interval.Duration%day != 0 {
		return 0, false
	}
	return int64(interval.Duration / day), true
}

// SetObservedGeneration records the generation that the status describes.
func (cp *ControlPlane) SetObservedGeneration(generation int64) {
	cp.Status.ObservedGeneration = generation
}

// StatusCopy returns a deep copy of the status.
func (cp *ControlPlane) StatusCopy() any {
	return *cp.Status.DeepCopy()
}
