package testutil

import (
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Names of the objects that the fixtures refer to.
const (
	// Name is the name of the Keystone in tests with a single one.
	Name = "keystone"
	// DatabaseSecret holds the database credentials.
	DatabaseSecret = "keystone-db"
	// AdminSecret holds the administrator's password, AdminPassword.
	AdminSecret   = "keystone-admin"
	AdminPassword = "the-admins-password"
	// Cluster is the MariaDB of managed Keystones.
	Cluster = "mariadb"
)

// Brownfield returns a Keystone with an external database and cache.
func Brownfield(namespace, name string) *keystonev1alpha1.Keystone {
	return &keystonev1alpha1.Keystone{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: keystonev1alpha1.KeystoneSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Replicas: 1,
				Image:    commonv1.ImageSpec{Repository: "ghcr.io/c5c3/keystone", Tag: "2025.2"},
				Cache:    commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "keystone",
					SecretRef: commonv1.SecretRefSpec{Name: DatabaseSecret},
				},
			},
			Bootstrap: keystonev1alpha1.BootstrapSpec{
				AdminPasswordSecretRef: commonv1.SecretRefSpec{Name: AdminSecret},
			},
		},
	}
}

// Managed returns a Keystone whose database mariadb-operator creates in the
// MariaDB [Cluster].
func Managed(namespace, name string) *keystonev1alpha1.Keystone {
	k := Brownfield(namespace, name)
	k.Spec.Database.Host = ""
	k.Spec.Database.ClusterRef = &corev1.LocalObjectReference{Name: Cluster}
	return k
}

// Secrets returns the Secrets that the Keystones of the fixtures refer to.
func Secrets(namespace string) []client.Object {
	secret := func(name string, data map[string]string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: data}
	}
	return []client.Object{
		secret(DatabaseSecret, map[string]string{"username": "keystone", "password": "database-password"}),
		secret(AdminSecret, map[string]string{"password": AdminPassword}),
	}
}

// MariaDB returns the MariaDB [Cluster].
func MariaDB(namespace string) *mariadbv1alpha1.MariaDB {
	m := &mariadbv1alpha1.MariaDB{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: Cluster}}
	m.Spec.Storage.Ephemeral = new(true)
	return m
}
