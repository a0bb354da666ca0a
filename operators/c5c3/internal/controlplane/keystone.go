package controlplane

import (
	"github.com/c5c3/forge/internal/common/cluster"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// What every part of the operator has to know of the Identity service: where it is, and
// where the administrator's secrets are in the secret store.

// AuthURL is Keystone inside the cluster.
func AuthURL(cp *c5c3v1alpha1.ControlPlane) string {
	return keystonev1alpha1.LocalEndpoint(cp.Namespace, cp.KeystoneName())
}

// CredentialPath is where the credential is in the secret store.
func CredentialPath(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) string {
	return keystonev1alpha1.StorePath(c, cp.Namespace, cp.Name, "admin", "app-credential")
}

// AdminPasswordPath is where the administrator's password is in the secret store.
func AdminPasswordPath(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) string {
	return keystonev1alpha1.AdminPasswordPath(c, cp.Namespace, cp.KeystoneName())
}
