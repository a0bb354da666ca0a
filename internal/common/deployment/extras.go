package deployment

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// extraPrefix tells the volumes of users from those of the operator.
const extraPrefix = "extra-"

// withExtras adds the environment variables and volumes of users to a container. What the
// container has itself stays.
func withExtras(container corev1.Container, settings commonv1.PodSettings) corev1.Container {
	env := slices.Clone(container.Env)
	for _, extra := range settings.ExtraEnv {
		if !slices.ContainsFunc(container.Env, func(own corev1.EnvVar) bool { return own.Name == extra.Name }) {
			env = append(env, extra)
		}
	}
	container.Env = env
	for _, extra := range settings.ExtraVolumes {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
			Name: extraPrefix + extra.Name, MountPath: extra.MountPath, ReadOnly: extra.PersistentVolumeClaim == nil || extra.ReadOnly,
		})
	}
	return container
}

// extraVolume builds a volume of a user. The files of a Secret are readable to the process
// only.
func extraVolume(extra commonv1.ExtraVolume) corev1.Volume {
	volume := corev1.Volume{Name: extraPrefix + extra.Name}
	switch {
	case extra.ConfigMap != nil:
		volume.ConfigMap = &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: extra.ConfigMap.Name}, Items: extra.ConfigMap.Items,
		}
	case extra.Secret != nil:
		volume.Secret = &corev1.SecretVolumeSource{
			SecretName: extra.Secret.Name, Items: extra.Secret.Items, DefaultMode: ptr.To(keyFileMode),
		}
	case extra.PersistentVolumeClaim != nil:
		volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{
			ClaimName: extra.PersistentVolumeClaim.Name, ReadOnly: extra.ReadOnly,
		}
	}
	return volume
}

// nodeAffinity returns the part of an affinity that concerns nodes, for the pods of tasks:
// what API pods run beside does not concern them.
func nodeAffinity(affinity *corev1.Affinity) *corev1.Affinity {
	if affinity == nil || affinity.NodeAffinity == nil {
		return nil
	}
	return &corev1.Affinity{NodeAffinity: affinity.NodeAffinity}
}
