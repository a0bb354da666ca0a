package controlplane

import (
	"time"

	"github.com/c5c3/forge/internal/common/cluster"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// What every part of the operator has to know about the Identity service: its URL, the
// names of its keys, and the paths of the administrator's secrets in the secret store.

// AuthURL returns the URL of Keystone inside the cluster.
func AuthURL(cp *c5c3v1alpha1.ControlPlane) string {
	return keystonev1alpha1.LocalEndpoint(cp.Namespace, cp.KeystoneName())
}

// CredentialPath returns the path of the credential in the secret store.
func CredentialPath(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) string {
	return keystonev1alpha1.StorePath(c, cp.Namespace, cp.Name, "admin", "app-credential")
}

// AdminPasswordPath returns the path of the administrator's password in the secret store.
func AdminPasswordPath(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) string {
	return keystonev1alpha1.AdminPasswordPath(c, cp.Namespace, cp.KeystoneName())
}

// TokenKeysName and CredentialKeysName return the names of the Secrets with the keys of the
// Keystone.
func TokenKeysName(cp *c5c3v1alpha1.ControlPlane) string {
	return keystonev1alpha1.FernetKeysName(cp.KeystoneName())
}

// CredentialKeysName is described at [TokenKeysName].
func CredentialKeysName(cp *c5c3v1alpha1.ControlPlane) string {
	return keystonev1alpha1.CredentialKeysName(cp.KeystoneName())
}

// TokenLifetime returns how long a token of a Keystone with the options is valid; ok is false
// if they do not say so.
func TokenLifetime(options map[string]map[string]string) (lifetime time.Duration, ok bool) {
	return keystonev1alpha1.TokenLifetime(options)
}
