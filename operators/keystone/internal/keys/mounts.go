package keys

import (
	"github.com/c5c3/forge/internal/common/deployment"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const (
	volumeFernetKeys     = "fernet-keys"
	volumeCredentialKeys = "credential-keys"
)

// Mounts returns the key repositories of the Keystone of the name. They are never subPath
// mounts, which the kubelet does not refresh: a rotation must reach running pods.
func Mounts(name string) []deployment.Mount {
	return []deployment.Mount{fernetMount(name), CredentialMount(name)}
}

func fernetMount(name string) deployment.Mount {
	return deployment.SecretMount(volumeFernetKeys, keystonev1alpha1.FernetKeysName(name), keystonev1alpha1.FernetKeyRepository+"/")
}

// CredentialMount returns the repository of the keys that encrypt credentials.
func CredentialMount(name string) deployment.Mount {
	return MountOf(keystonev1alpha1.CredentialKeysName(name))
}

// MountOf returns the repository of the keys that encrypt credentials in the named Secret.
func MountOf(secret string) deployment.Mount {
	return deployment.SecretMount(volumeCredentialKeys, secret, keystonev1alpha1.CredentialKeyRepository+"/")
}
