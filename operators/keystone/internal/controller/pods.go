package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const (
	volumeConfig         = "config"
	volumeFernetKeys     = "fernet-keys"
	volumeCredentialKeys = "credential-keys"
	volumeDatabaseTLS    = "db-tls"
)

// keyFileMode lets only the user of the process read keys and certificates:
// Secret volumes belong to root with the pod's fsGroup, which adds the group's
// read permission that the mode leaves out.
const keyFileMode int32 = 0o400

// restrictedContainer fulfils the restricted Pod Security Standard.
func restrictedContainer() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		RunAsNonRoot:             ptr.To(true),
		RunAsUser:                ptr.To(runAsID),
		RunAsGroup:               ptr.To(runAsID),
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// podSecurity makes mounted Secrets readable for the process.
func podSecurity() *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{FSGroup: ptr.To(runAsID)}
}

// connectionVariable hands the database URL to oslo.config without writing it
// to a file or a command line.
func connectionVariable(k *keystonev1alpha1.Keystone) corev1.EnvVar {
	return secretVariable(connectionEnv, connectionSecretName(k), connectionKey)
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
		secretVariable(connectionEnv, connectionSecret, connectionKey),
		{Name: "OS_DATABASE__MAX_RETRIES", Value: "2"},
		{Name: "OS_DATABASE__RETRY_INTERVAL", Value: "1"},
		pythonVariable(),
	}
}

func secretVariable(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key},
	}}
}

// mount is a volume together with where it goes.
type mount struct {
	volume corev1.Volume
	path   string
}

// configMount is the directory of the configuration, with the options that come
// from a Secret in a file of their own.
func (s *scope) configMount() mount {
	configMap := corev1.LocalObjectReference{Name: s.configMap}
	source := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: configMap}}
	if s.secretOptions != "" {
		source = corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			DefaultMode: ptr.To(keyFileMode),
			Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: configMap}},
				projected(s.secretOptions, corev1.KeyToPath{Key: secretOptionsFile, Path: secretOptionsFile}),
			},
		}}
	}
	return mount{path: configDir, volume: corev1.Volume{Name: volumeConfig, VolumeSource: source}}
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
func keyMounts(k *keystonev1alpha1.Keystone) []mount {
	return []mount{
		secretMount(volumeFernetKeys, fernetKeysName(k), fernetKeysDir+"/"),
		secretMount(volumeCredentialKeys, credentialKeysName(k), credentialKeysDir+"/"),
	}
}

func secretMount(volume, secret, path string) mount {
	return mount{path: path, volume: corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: ptr.To(keyFileMode)},
	}}}
}

// databaseTLSMounts is the client certificate for the database, when it wants
// one.
func databaseTLSMounts(k *keystonev1alpha1.Keystone) []mount {
	tls := k.Spec.Database.TLS
	if !k.Spec.Database.TLSEnabled() || tls.CABundleSecretRef == nil || tls.ClientCertSecretRef == nil {
		return nil
	}
	return []mount{{path: databaseTLSDir, volume: corev1.Volume{Name: volumeDatabaseTLS, VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{DefaultMode: ptr.To(keyFileMode), Sources: []corev1.VolumeProjection{
			projected(tls.CABundleSecretRef.Name, corev1.KeyToPath{Key: caBundleKey(tls), Path: caFile}),
			projected(tls.ClientCertSecretRef.Name,
				corev1.KeyToPath{Key: corev1.TLSCertKey, Path: corev1.TLSCertKey},
				corev1.KeyToPath{Key: corev1.TLSPrivateKeyKey, Path: corev1.TLSPrivateKeyKey}),
		}},
	}}}}
}

// caFile is the file, and the default key, of the database's CA.
const caFile = "ca.crt"

func caBundleKey(tls *commonv1.DatabaseTLSSpec) string { return tls.CABundleSecretRef.KeyOr(caFile) }

func projected(secret string, items ...corev1.KeyToPath) corev1.VolumeProjection {
	return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Items: items,
	}}
}

// split turns mounts into a pod's volumes and a container's volume mounts.
func split(mounts []mount) ([]corev1.Volume, []corev1.VolumeMount) {
	volumes := make([]corev1.Volume, 0, len(mounts))
	volumeMounts := make([]corev1.VolumeMount, 0, len(mounts))
	for _, m := range mounts {
		volumes = append(volumes, m.volume)
		volumeMounts = append(volumeMounts, corev1.VolumeMount{Name: m.volume.Name, MountPath: m.path, ReadOnly: true})
	}
	return volumes, volumeMounts
}
