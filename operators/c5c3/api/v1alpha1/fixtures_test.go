package v1alpha1

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// minimal returns the least a user has to write.
func minimal() *ControlPlane {
	return &ControlPlane{
		ObjectMeta: metav1.ObjectMeta{Name: "controlplane", Namespace: "openstack"},
		Spec:       ControlPlaneSpec{OpenStackRelease: "2025.2", Services: ServicesSpec{Keystone: &ServiceKeystoneSpec{}}},
	}
}

// completed is what the schema makes of minimal.
func completed() *ControlPlane { return defaulted(minimal()) }

// withServices has all services.
func withServices() *ControlPlane {
	cp := minimal()
	cp.Spec.Services.Keystone.IdentityBackends = []ServiceKeystoneIdentityBackendSpec{inDirectory("staff")}
	cp.Spec.Services.Barbican = &ServiceBarbicanSpec{SecretStores: []ServiceBarbicanSecretStoreSpec{inVault("vault")}}
	cp.Spec.Services.Placement = &ServicePlacementSpec{}
	cp.Spec.Services.Glance = &ServiceGlanceSpec{Backends: []ServiceGlanceBackendSpec{inBucket("images")}}
	cp.Spec.Services.Horizon = &ServiceHorizonSpec{}
	return defaulted(cp)
}

func defaulted(cp *ControlPlane) *ControlPlane {
	cp = cp.DeepCopy()
	SetDefaults(cp)
	return cp
}

func named(name string) *corev1.LocalObjectReference { return &corev1.LocalObjectReference{Name: name} }

func externalDatabase() commonv1.DatabaseSpec {
	return commonv1.DatabaseSpec{Host: "db.example.com", Database: "keystone", SecretRef: commonv1.SecretRefSpec{Name: "db"}}
}

func every(interval time.Duration) *metav1.Duration { return &metav1.Duration{Duration: interval} }

func gateway(hostname string) *commonv1.GatewaySpec {
	return &commonv1.GatewaySpec{ParentRef: commonv1.GatewayParentRefSpec{Name: "public"}, Hostname: hostname}
}

// complete returns a ControlPlane that creates its database and cache, with every field
// set that such a one can have.
func complete() *ControlPlane {
	cp := completed()
	cp.Spec.DeletionPolicy = commonv1.DeletionPolicyRetain
	cp.Spec.Global = &GlobalSpec{PolicySpec: *policy(), ExtraConfig: map[string]map[string]string{"DEFAULT": {"debug": "true"}}}
	database := &cp.Spec.Infrastructure.Database
	database.Port, database.Replicas, database.StorageSize = 3306, new(int32(3)), "100Gi"
	database.StorageClassName, database.Image = "ceph-rbd", "registry.example.com/mariadb:11.8"
	database.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	cp.Spec.Infrastructure.Cache.Image = "registry.example.com/memcached:1.6"
	database.SecretRef.Key = "password"
	database.TLS = &commonv1.DatabaseTLSSpec{
		Enabled: true, Mode: commonv1.DatabaseTLSVerifyFull,
		CABundleSecretRef:   &commonv1.SecretRefSpec{Name: "ca", Key: "ca.crt"},
		ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "client", Key: "tls.crt"},
	}
	published := gateway("keystone.example.com")
	published.ParentRef.Namespace, published.ParentRef.SectionName = "gateways", "https"
	published.Path, published.Annotations = "/", map[string]string{"a": "b"}
	service := ServiceSpec{
		Replicas: new(int32(3)), Image: &commonv1.ImageSpec{Repository: "ghcr.io/c5c3/keystone", Tag: "2025.2", Digest: apitest.Digest},
		PodSettings: apitest.PodSettings(), ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}},
		Gateway: published, Resources: &corev1.ResourceRequirements{},
	}
	cp.Spec.Services.Keystone = &ServiceKeystoneSpec{
		ServiceSpec: service, ServiceAPISpec: ServiceAPISpec{policy(), "https://keystone.example.com/v3"},
		RotationInterval: every(168 * time.Hour), IdentityBackends: []ServiceKeystoneIdentityBackendSpec{inDirectory("staff")},
		ProxyImage: &commonv1.ImageSpec{Repository: "ghcr.io/c5c3/keystone-proxy", Tag: "2.4", Digest: apitest.Digest},
	}
	cp.Spec.Services.Barbican = &ServiceBarbicanSpec{
		ServiceSpec: *service.DeepCopy(), ServiceAPISpec: ServiceAPISpec{policy(), "https://keystone.example.com/v3"},
		Database: BarbicanDatabaseSpec{
			Database: "keys", SecretRef: commonv1.SecretRefSpec{Name: "keys-db", Key: "password"},
		},
		SecretStores: []ServiceBarbicanSecretStoreSpec{inVault("vault")},
	}
	cp.Spec.Services.Placement = &ServicePlacementSpec{
		ServiceSpec: *service.DeepCopy(), ServiceAPISpec: ServiceAPISpec{policy(), "https://keystone.example.com/v3"},
		Database: PlacementDatabaseSpec{
			Database: "resources", SecretRef: commonv1.SecretRefSpec{Name: "resources-db", Key: "password"},
		},
	}
	cp.Spec.Services.Glance = &ServiceGlanceSpec{
		ServiceSpec: *service.DeepCopy(), ServiceAPISpec: ServiceAPISpec{policy(), "https://keystone.example.com/v3"},
		Database: GlanceDatabaseSpec{
			Database: "images", SecretRef: commonv1.SecretRefSpec{Name: "images-db", Key: "password"},
		},
		Backends: []ServiceGlanceBackendSpec{inBucket("images")},
	}
	cp.Spec.Services.Horizon = &ServiceHorizonSpec{
		ServiceSpec: *service.DeepCopy(), SecretKeyRef: &commonv1.SecretRefSpec{Name: "cookies", Key: "secret-key"},
	}
	credential := &cp.Spec.KORC.AdminCredential
	credential.ApplicationCredential.AccessRules = []AccessRule{{Path: "/v2.1/servers", Method: "GET", Service: "compute"}}
	credential.BootstrapResources = []BootstrapResourceSpec{{Kind: BootstrapKindProject, Name: "service"}}
	cp.Spec.Backup = scheduledBackup()
	return cp
}

// completeInClaim returns a ControlPlane with backups and images in a claim instead of a bucket.
func completeInClaim() *ControlPlane {
	cp := complete()
	inClaim("backups")(cp.Spec.Backup)
	cp.Spec.Services.Glance.Backends = []ServiceGlanceBackendSpec{inVolume("volume")}
	return cp
}

// completeBrownfield returns a ControlPlane with the fields that complete cannot have.
func completeBrownfield() *ControlPlane {
	cp := complete()
	apitest.SecretFirst(&cp.Spec.Services.Keystone.PodSettings)
	apitest.SecretFirst(&cp.Spec.Services.Barbican.PodSettings)
	apitest.SecretFirst(&cp.Spec.Services.Placement.PodSettings)
	apitest.SecretFirst(&cp.Spec.Services.Glance.PodSettings)
	apitest.SecretFirst(&cp.Spec.Services.Horizon.PodSettings)
	cp.Spec.Services.Glance.Backends = []ServiceGlanceBackendSpec{inPool("pool")}
	cp.Spec.Infrastructure.Database.ClusterRef, cp.Spec.Infrastructure.Database.Host = nil, "db.example.com"
	cp.Spec.Infrastructure.Cache.ClusterRef, cp.Spec.Infrastructure.Cache.Servers = nil, []string{"memcached:11211"}
	cp.Spec.Backup = nil
	return cp
}

func policy() *commonv1.PolicySpec {
	return &commonv1.PolicySpec{Rules: map[string]string{"identity:list_users": "role:reader"}, ConfigMapRef: named("policy")}
}

// inDirectory is an identity backend with a domain of its own name.
func inDirectory(name string) ServiceKeystoneIdentityBackendSpec {
	return ServiceKeystoneIdentityBackendSpec{Name: name, IdentityBackendSpec: keystonev1alpha1.IdentityBackendSpec{
		Type: keystonev1alpha1.IdentityBackendLDAP, Domain: keystonev1alpha1.IdentityDomainSpec{Name: name},
		LDAP: &keystonev1alpha1.LDAPSpec{
			URLs: []string{"ldaps://ldap.example.com"}, TLS: &keystonev1alpha1.LDAPTLSSpec{CABundleSecretRef: commonv1.SecretRefSpec{Name: "ca"}},
			BindCredentialsSecretRef: commonv1.CredentialsReference{Name: "reader"},
			Users:                    keystonev1alpha1.LDAPUsersSpec{Tree: "ou=people,dc=example,dc=com"},
		},
	}}
}

func inVault(name string) ServiceBarbicanSecretStoreSpec {
	return ServiceBarbicanSecretStoreSpec{Name: name, SecretStoreSpec: barbicanv1alpha1.SecretStoreSpec{
		Type: barbicanv1alpha1.StoreVault, Vault: barbicanv1alpha1.VaultSpec{
			URL: "https://vault.example.com:8200", KVMountpoint: "barbican", Namespace: "one", CABundle: apitest.Authority,
			CredentialsSecretRef: commonv1.CredentialsReference{Name: "vault"},
		},
	}}
}

func inBucket(name string) ServiceGlanceBackendSpec {
	return ServiceGlanceBackendSpec{Name: name, BackendSpec: glancev1alpha1.BackendSpec{
		Type: glancev1alpha1.BackendS3, S3: &glancev1alpha1.S3Spec{
			Host: "s3.example.com", TLS: new(false), Bucket: "images", Region: "eu-1",
			CredentialsSecretRef: commonv1.CredentialsReference{Name: "s3"},
		},
	}}
}

func inVolume(name string) ServiceGlanceBackendSpec {
	return ServiceGlanceBackendSpec{Name: name, BackendSpec: glancev1alpha1.BackendSpec{
		Type: glancev1alpha1.BackendFile, File: &glancev1alpha1.FileSpec{Claim: "images"},
	}}
}

func inPool(name string) ServiceGlanceBackendSpec {
	return ServiceGlanceBackendSpec{Name: name, BackendSpec: glancev1alpha1.BackendSpec{
		Type: glancev1alpha1.BackendRBD, Options: map[string]string{"rbd_store_pool": "images"},
		OptionsSecretRef: &commonv1.CredentialsReference{Name: "ceph"},
	}}
}
