package keys

import (
	"github.com/c5c3/forge/internal/common/deployment"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

const (
	volumeFernetKeys     = "fernet-keys"
	volumeCredentialKeys = "credential-keys"
)

// Mounts returns the key repositories. They are never subPath mounts, which the kubelet
// does not refresh: a rotation must reach running pods.
func Mounts(k *keystonev1alpha1.Keystone) []deployment.Mount {
	return []deployment.Mount{fernetMount(k), CredentialMount(k)}
}

func fernetMount(k *keystonev1alpha1.Keystone) deployment.Mount {
	return deployment.SecretMount(volumeFernetKeys, pass.FernetKeysName(k), keystonev1alpha1.FernetKeyRepository+"/")
}

// CredentialMount returns the repository of the keys that encrypt credentials.
func CredentialMount(k *keystonev1alpha1.Keystone) deployment.Mount {
	return deployment.SecretMount(volumeCredentialKeys, pass.CredentialKeysName(k), keystonev1alpha1.CredentialKeyRepository+"/")
}
