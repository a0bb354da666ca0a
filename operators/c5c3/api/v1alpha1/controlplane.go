package v1alpha1

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// AnnotationAllowKeystoneDeletion on a ControlPlane lets the operator delete the
// Keystone when services.keystone is removed from the spec. Its value is a
// boolean. Without it the Keystone is kept and no longer managed.
const AnnotationAllowKeystoneDeletion = "c5c3.io/allow-keystone-deletion"

// AnnotationAllowPlacementDeletion is AnnotationAllowKeystoneDeletion for the
// Placement.
const AnnotationAllowPlacementDeletion = "c5c3.io/allow-placement-deletion"

// AnnotationAllowBarbicanDeletion is AnnotationAllowKeystoneDeletion for the
// Barbican.
const AnnotationAllowBarbicanDeletion = "c5c3.io/allow-barbican-deletion"

// AnnotationAllowGlanceDeletion is AnnotationAllowKeystoneDeletion for the Glance and its
// backends.
const AnnotationAllowGlanceDeletion = "c5c3.io/allow-glance-deletion"

// Annotations of the K-ORC ApplicationCredential through which its replacement is requested.
const (
	// AnnotationAdminPasswordHash holds the SHA-256 of the password the
	// credential was made with, in hexadecimal. Setting it to "" asks for a new
	// credential.
	AnnotationAdminPasswordHash = "forge.c5c3.io/admin-password-hash"
	// AnnotationRotationRequest names the request that the credential answers,
	// or is to be replaced for. The same request is not acted on twice.
	AnnotationRotationRequest = "c5c3.io/rotation-request"
	// AnnotationCredentialOverlap is how long the credential remains valid after its
	// successor has reached the users, as a Go duration. It is at least two minutes,
	// even without the annotation.
	AnnotationCredentialOverlap = "c5c3.io/credential-overlap"
	// AnnotationSupersededAt is when the successor of a credential reached the users, in RFC 3339.
	AnnotationSupersededAt = "c5c3.io/superseded-at"
	// AnnotationRotationAnswered is on the Secret with the password of a service's user:
	// the last AnnotationRotationRequest there that was acted on. Another request asks for
	// another password.
	AnnotationRotationAnswered = "c5c3.io/rotation-answered"
	// AnnotationCredentialExpiry is on the Secret with the password of a service's user that
	// has an application credential: when that expires, in RFC 3339.
	AnnotationCredentialExpiry = "c5c3.io/credential-expiry"
	// AnnotationReplacedSince is on the Secret of the application credential: when
	// its latest replacement began, as RFC 3339 has it.
	AnnotationReplacedSince = "c5c3.io/replaced-since"
	// AnnotationTeardownSince is on a ControlPlane whose deletion has waited for the K-ORC
	// objects of others: when that was over, as RFC 3339 has it.
	AnnotationTeardownSince = "c5c3.io/teardown-since"
)

// LabelSuperseded marks ApplicationCredentials that only wait to be revoked.
const LabelSuperseded = "c5c3.io/superseded"

// LabelServiceUser has the name of the service, on the K-ORC objects and Secrets of its users.
const LabelServiceUser = "c5c3.io/service-user"

// ServiceAhead returns the status of a service with a later release than the given one, nil
// for none. Another build of the same release is not later.
func (cp *ControlPlane) ServiceAhead(release string) *ServiceStatus {
	for i := range cp.Status.Services {
		// The tag of another build of a release begins with it.
		if service := &cp.Status.Services[i]; service.Release > release && !strings.HasPrefix(service.Release, release) {
			return service
		}
	}
	return nil
}

// KeystoneName is the name of the Keystone of a control plane.
func (cp *ControlPlane) KeystoneName() string { return cp.Name + "-keystone" }

// IdentityBackends returns the sources of users of the Keystone, none without a Keystone.
func (cp *ControlPlane) IdentityBackends() []ServiceKeystoneIdentityBackendSpec {
	if cp.Spec.Services.Keystone == nil {
		return nil
	}
	return cp.Spec.Services.Keystone.IdentityBackends
}

// BarbicanName is the name of the Barbican of a control plane.
func (cp *ControlPlane) BarbicanName() string { return cp.Name + "-barbican" }

// GlanceName is the name of the Glance of a control plane.
func (cp *ControlPlane) GlanceName() string { return cp.Name + "-glance" }

// PlacementName is the name of the Placement of a control plane.
func (cp *ControlPlane) PlacementName() string { return cp.Name + "-placement" }

// HorizonName is the name of the Horizon of a control plane.
func (cp *ControlPlane) HorizonName() string { return cp.Name + "-horizon" }

// DatabaseSecretName is the name of the Secret with the database's credentials
// that the operator creates when it manages the database.
func (cp *ControlPlane) DatabaseSecretName() string { return cp.Name + "-keystone-db-credentials" }

// AdminSecretName is the name of the Secret with the administrator's password
// that the operator creates when it manages the database.
func (cp *ControlPlane) AdminSecretName() string { return cp.Name + "-keystone-admin-credentials" }

// ApplicationCredentialName is the name of the K-ORC ApplicationCredential of
// the administrator, and of the Secret with its secret.
func (cp *ControlPlane) ApplicationCredentialName() string { return cp.Name + "-admin-app-credential" }

// PasswordCloudSecretName is the name of the Secret with the clouds.yaml with which K-ORC creates the application credential.
func (cp *ControlPlane) PasswordCloudSecretName() string { return cp.Name + "-admin-password-cloud" }

// CredentialPushName is the name of the PushSecret that copies the application
// credential to the secret store.
func (cp *ControlPlane) CredentialPushName() string {
	return cp.ApplicationCredentialName() + "-backup"
}

// ServiceUserName is the name of the Secret with the password of the user of a
// service, such as "placement". The names of everything else about the user begin
// with it.
func (cp *ControlPlane) ServiceUserName(service string) string {
	return cp.Name + "-" + service + "-service-user"
}

// DomainImportName is the name of the K-ORC import of the domain Default.
func (cp *ControlPlane) DomainImportName() string { return cp.Name + "-domain-default" }

// UserImportName is the name of the K-ORC import of the administrator.
func (cp *ControlPlane) UserImportName() string { return cp.Name + "-user-admin" }

// CatalogServiceName is the name of the K-ORC Service of a type in the catalog.
func (cp *ControlPlane) CatalogServiceName(serviceType string) string {
	return cp.Name + "-" + serviceType + "-service"
}

// CatalogEndpointName is the name of the K-ORC Endpoint of an interface, such as
// "public", of the service of a type in the catalog.
func (cp *ControlPlane) CatalogEndpointName(serviceType, interfaceName string) string {
	if interfaceName == publicInterface {
		return cp.Name + "-" + serviceType + "-endpoint"
	}
	return cp.Name + "-" + serviceType + "-" + interfaceName + "-endpoint"
}

const (
	identityType    = "identity"
	publicInterface = "public"
)

// IdentityServiceName is the name of the K-ORC Service of Keystone.
func (cp *ControlPlane) IdentityServiceName() string { return cp.CatalogServiceName(identityType) }

// IdentityEndpointName is the name of the K-ORC Endpoint of Keystone.
func (cp *ControlPlane) IdentityEndpointName() string {
	return cp.CatalogEndpointName(identityType, publicInterface)
}

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

// ManagesCredentials reports whether the operator provides the credentials of the
// database and of the administrator itself.
func (cp *ControlPlane) ManagesCredentials() bool {
	return cp.Spec.Infrastructure.Database.IsManaged()
}

// DatabaseSecretRef is where Keystone finds its database's credentials.
func (cp *ControlPlane) DatabaseSecretRef() commonv1.SecretRefSpec {
	if cp.ManagesCredentials() {
		return commonv1.SecretRefSpec{Name: cp.DatabaseSecretName(), Key: commonv1.PasswordKey}
	}
	return cp.Spec.Infrastructure.Database.SecretRef
}

// BarbicanDatabaseSecretRef is where Barbican finds its database's credentials. The control
// plane has a Barbican.
func (cp *ControlPlane) BarbicanDatabaseSecretRef() commonv1.SecretRefSpec {
	return cp.databaseSecretRef(cp.BarbicanName(), cp.Spec.Services.Barbican.Database.SecretRef)
}

// GlanceDatabaseSecretRef is where Glance finds its database's credentials. The control
// plane has a Glance.
func (cp *ControlPlane) GlanceDatabaseSecretRef() commonv1.SecretRefSpec {
	return cp.databaseSecretRef(cp.GlanceName(), cp.Spec.Services.Glance.Database.SecretRef)
}

// PlacementDatabaseSecretRef is where Placement finds its database's credentials. The
// control plane has a Placement.
func (cp *ControlPlane) PlacementDatabaseSecretRef() commonv1.SecretRefSpec {
	return cp.databaseSecretRef(cp.PlacementName(), cp.Spec.Services.Placement.Database.SecretRef)
}

func (cp *ControlPlane) databaseSecretRef(service string, own commonv1.SecretRefSpec) commonv1.SecretRefSpec {
	if cp.ManagesCredentials() {
		return commonv1.SecretRefSpec{Name: service + "-db-credentials", Key: commonv1.PasswordKey}
	}
	return own
}

// AdminSecretRef is where Keystone and K-ORC find the administrator's password.
func (cp *ControlPlane) AdminSecretRef() commonv1.SecretRefSpec {
	if cp.ManagesCredentials() {
		return commonv1.SecretRefSpec{Name: cp.AdminSecretName(), Key: DefaultAdminPasswordKey}
	}
	return cp.Spec.KORC.AdminCredential.PasswordSecretRef
}
