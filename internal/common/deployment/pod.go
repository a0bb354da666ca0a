package deployment

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// keyFileMode lets only the user of the process read keys and certificates:
// Secret volumes belong to root with the pod's fsGroup, which adds the group's
// read permission that the mode leaves out.
const keyFileMode int32 = 0o400

// RestrictedContainer fulfils the restricted Pod Security Standard for a process
// that runs as the user and group.
func RestrictedContainer(id int64) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		RunAsNonRoot:             ptr.To(true),
		RunAsUser:                &id,
		RunAsGroup:               &id,
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// SecretVariable is an environment variable with the value of a Secret's key.
func SecretVariable(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key},
	}}
}

// Mount is a volume together with where it goes.
type Mount struct {
	Volume corev1.Volume
	Path   string
}

// SecretMount is a directory with all keys of a Secret, readable for the process
// alone.
func SecretMount(volume, secret, path string) Mount {
	return Mount{Path: path, Volume: corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: ptr.To(keyFileMode)},
	}}}
}

// ProjectedMount is a directory with what the sources hold, readable for the process
// alone.
func ProjectedMount(volume, path string, sources ...corev1.VolumeProjection) Mount {
	return Mount{Path: path, Volume: corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{DefaultMode: ptr.To(keyFileMode), Sources: sources},
	}}}
}

// SecretProjection is the part of a projected volume that comes from a Secret.
func SecretProjection(secret string, items ...corev1.KeyToPath) corev1.VolumeProjection {
	return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Items: items,
	}}
}

// SplitMounts turns mounts into a pod's volumes and a container's volume mounts,
// which are read-only.
func SplitMounts(mounts []Mount) ([]corev1.Volume, []corev1.VolumeMount) {
	volumes := make([]corev1.Volume, 0, len(mounts))
	volumeMounts := make([]corev1.VolumeMount, 0, len(mounts))
	for _, m := range mounts {
		volumes = append(volumes, m.Volume)
		volumeMounts = append(volumeMounts, corev1.VolumeMount{Name: m.Volume.Name, MountPath: m.Path, ReadOnly: true})
	}
	return volumes, volumeMounts
}
