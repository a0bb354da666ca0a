package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const (
	volumeConfig         = "config"
	volumeFernetKeys     = "fernet-keys"
	volumeCredentialKeys = "credential-keys"
	volumeDatabaseTLS    = "db-tls"
)

// pods is what all pods of a Keystone have in common.
func pods(k *keystonev1alpha1.Keystone) deployment.Pods {
	return deployment.Pods{
		UserID: definition.UserID, ImagePullSecrets: k.Spec.ImagePullSecrets, PriorityClassName: k.Spec.PriorityClassName,
	}
}

// connectionVariable hands the database URL to oslo.config without writing it
// to a file or a command line.
func connectionVariable(k *keystonev1alpha1.Keystone) corev1.EnvVar {
	return deployment.SecretVariable(connectionEnv, connectionSecretName(k), connectionKey)
}

// pythonVariable lets Python import what travels with the configuration.
func pythonVariable() corev1.EnvVar {
	return corev1.EnvVar{Name: "PYTHONPATH", Value: configDir}
}

// toolVariables are the environment of every keystone-manage run that logs in
// like the pods.
func toolVariables(k *keystonev1alpha1.Keystone) []corev1.EnvVar {
	return toolVariablesWith(connectionSecretName(k))
}

// toolVariablesWith takes the database URL from the named Secret. The
// configuration lets a server try to reach its database for ever; a Job has to
// end and tell why.
func toolVariablesWith(connectionSecret string) []corev1.EnvVar {
	return []corev1.EnvVar{
		deployment.SecretVariable(connectionEnv, connectionSecret, connectionKey),
		{Name: "OS_DATABASE__MAX_RETRIES", Value: "2"},
		{Name: "OS_DATABASE__RETRY_INTERVAL", Value: "1"},
		pythonVariable(),
	}
}

// configMount is the directory of the configuration, with the options that come
// from a Secret in a file of their own.
func (s *scope) configMount() deployment.Mount {
	configMap := corev1.LocalObjectReference{Name: s.configMap}
	if s.secretOptions != "" {
		return deployment.ProjectedMount(volumeConfig, configDir,
			corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: configMap}},
			deployment.SecretProjection(s.secretOptions, corev1.KeyToPath{Key: secretOptionsFile, Path: secretOptionsFile}))
	}
	source := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: configMap}}
	return deployment.Mount{Path: configDir, Volume: corev1.Volume{Name: volumeConfig, VolumeSource: source}}
}

// isConfig reports whether a volume holds the ConfigMap of now, with or without
// options from a Secret.
func (s *scope) isConfig(volume corev1.Volume) bool {
	switch {
	case volume.Name != volumeConfig:
		return false
	case volume.ConfigMap != nil:
		return volume.ConfigMap.Name == s.configMap
	case volume.Projected != nil:
		return slices.ContainsFunc(volume.Projected.Sources, func(source corev1.VolumeProjection) bool {
			return source.ConfigMap != nil && source.ConfigMap.Name == s.configMap
		})
	}
	return false
}

// configKey is what the result of reading the configuration with an image depends
// on: the names of both objects stand for their content.
func (s *scope) configKey() []any {
	key := []any{image(s.keystone), s.configMap}
	if s.secretOptions != "" {
		key = append(key, s.secretOptions)
	}
	return key
}

// keyMounts are the key repositories. They are never subPath mounts, which the
// kubelet does not refresh: a rotation has to reach running pods.
func keyMounts(k *keystonev1alpha1.Keystone) []deployment.Mount {
	return []deployment.Mount{
		deployment.SecretMount(volumeFernetKeys, fernetKeysName(k), fernetKeysDir+"/"),
		deployment.SecretMount(volumeCredentialKeys, credentialKeysName(k), credentialKeysDir+"/"),
	}
}

// databaseTLSMounts is the client certificate for the database, when it wants
// one.
func databaseTLSMounts(k *keystonev1alpha1.Keystone) []deployment.Mount {
	tls := k.Spec.Database.TLS
	if !k.Spec.Database.TLSEnabled() || tls.CABundleSecretRef == nil || tls.ClientCertSecretRef == nil {
		return nil
	}
	return []deployment.Mount{deployment.ProjectedMount(volumeDatabaseTLS, databaseTLSDir,
		deployment.SecretProjection(tls.CABundleSecretRef.Name, corev1.KeyToPath{Key: caBundleKey(tls), Path: caFile}),
		deployment.SecretProjection(tls.ClientCertSecretRef.Name,
			corev1.KeyToPath{Key: corev1.TLSCertKey, Path: corev1.TLSCertKey},
			corev1.KeyToPath{Key: corev1.TLSPrivateKeyKey, Path: corev1.TLSPrivateKeyKey}))}
}

// caFile is the file, and the default key, of the database's CA.
const caFile = "ca.crt"

func caBundleKey(tls *commonv1.DatabaseTLSSpec) string { return tls.CABundleSecretRef.KeyOr(caFile) }
