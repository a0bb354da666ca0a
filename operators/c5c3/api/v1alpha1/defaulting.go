package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// The values SetDefaults fills in. Where the schema states one, too, it is the
// same.
const (
	DefaultRegion = "RegionOne"

	DefaultDatabaseCluster = "openstack-db"
	DefaultDatabaseName    = "keystone"
	DefaultDatabaseSecret  = "keystone-db"
	DefaultCacheCluster    = "openstack-memcached"

	DefaultCloudName           = "admin"
	DefaultCloudsSecret        = "k-orc-clouds-yaml"
	DefaultAdminPasswordSecret = "keystone-admin"
	DefaultAdminPasswordKey    = "password"

	DefaultAuthentication       = AuthenticationPassword
	DefaultCredentialDays int32 = 30

	DefaultRestricted   = true
	DefaultRotationMode = RotationPasswordDriven
)

// The size of the database servers the operator creates when the spec names
// none. It is not written into the object.
const (
	DefaultDatabaseReplicas    int32 = 3
	DefaultDatabaseStorageSize       = "100Gi"
)

// SetDefaults fills in every unset field that has a default and leaves the rest
// alone. Doing it twice changes nothing more. It runs in the mutating webhook
// and again at the start of a reconcile pass, because an object may have been
// stored while the webhook was off.
func SetDefaults(cp *ControlPlane) {
	commonv1.SetIfZero(&cp.Spec.Region, DefaultRegion)
	defaultDatabase(&cp.Spec.Infrastructure.Database)
	defaultCache(&cp.Spec.Infrastructure)
	commonv1.SetIfZero(&cp.Spec.ServiceUsers.Authentication, DefaultAuthentication)
	commonv1.SetIfZero(&cp.Spec.ServiceUsers.CredentialDays, DefaultCredentialDays)
	defaultCredential(&cp.Spec.KORC.AdminCredential)
	for i := range cp.IdentityBackends() {
		cp.IdentityBackends()[i].SetDefaults()
	}
	for _, s := range furtherServices {
		s.setDefaults(cp)
	}
}

// defaultDatabase never turns a brownfield database into a managed one.
func defaultDatabase(db *InfrastructureDatabaseSpec) {
	commonv1.SetIfZero(&db.Database, DefaultDatabaseName)
	commonv1.SetIfZero(&db.SecretRef.Name, DefaultDatabaseSecret)
	if db.Host == "" {
		db.ClusterRef = namedRef(db.ClusterRef, DefaultDatabaseCluster)
	}
	db.DatabaseSpec.SetDefaults()
}

func defaultCache(infrastructure *InfrastructureSpec) {
	cache := &infrastructure.Cache
	if len(cache.Servers) == 0 {
		cache.ClusterRef = namedRef(cache.ClusterRef, DefaultCacheCluster)
	}
	cache.SetDefaults()
}

func namedRef(ref *corev1.LocalObjectReference, name string) *corev1.LocalObjectReference {
	if ref != nil && ref.Name != "" {
		return ref
	}
	return &corev1.LocalObjectReference{Name: name}
}

func defaultCredential(credential *AdminCredentialSpec) {
	commonv1.SetIfZero(&credential.CloudCredentialsRef.CloudName, DefaultCloudName)
	commonv1.SetIfZero(&credential.CloudCredentialsRef.SecretName, DefaultCloudsSecret)
	commonv1.SetIfZero(&credential.PasswordSecretRef.Name, DefaultAdminPasswordSecret)
	commonv1.SetIfZero(&credential.PasswordSecretRef.Key, DefaultAdminPasswordKey)
	commonv1.SetIfZero(&credential.ApplicationCredential.Restricted, new(DefaultRestricted))
	commonv1.SetIfZero(&credential.ApplicationCredential.Rotation.Mode, DefaultRotationMode)
}
