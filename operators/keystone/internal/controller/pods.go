package controller

import (
	"slices"

	"github.com/c5c3/forge/internal/common/deployment"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const (
	volumeFernetKeys     = "fernet-keys"
	volumeCredentialKeys = "credential-keys"
)

// keyMounts returns the key repositories. They are never subPath mounts, which the
// kubelet does not refresh: a rotation must reach running pods.
func keyMounts(k *keystonev1alpha1.Keystone) []deployment.Mount {
	return []deployment.Mount{
		deployment.SecretMount(volumeFernetKeys, fernetKeysName(k), fernetKeysDir+"/"),
		deployment.SecretMount(volumeCredentialKeys, credentialKeysName(k), credentialKeysDir+"/"),
	}
}

// manage returns a keystone-manage command line.
func manage(arguments ...string) []string {
	return slices.Concat([]string{"keystone-manage", "--config-dir=" + configDir}, arguments)
}
