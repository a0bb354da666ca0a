package deployment

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// keyFileMode makes keys and certificates readable to the process only. Files of Secret
// volumes belong to root and the pod's fsGroup, which adds the group read permission that
// the mode omits.
const keyFileMode int32 = 0o400

// Pods holds what all pods of an instance have in common, those of its API and of its
// Jobs.
type Pods struct {
	// UserID is the UID and GID of the processes.
	UserID int64
	// ImagePullSecrets are the Secrets for pulling images.
	ImagePullSecrets []corev1.LocalObjectReference
	// PriorityClassName may be nil.
	PriorityClassName *string
	// Settings are those of the users.
	Settings commonv1.PodSettings
}

// Spec returns the spec of a pod with one container that has the mounts and no access to
// the API server.
func (p Pods) Spec(container corev1.Container, mounts ...Mount) corev1.PodSpec {
	volumes := make([]corev1.Volume, 0, len(mounts))
	for _, m := range mounts {
		volumes = append(volumes, m.Volume)
	}
	for _, extra := range p.Settings.ExtraVolumes {
		volumes = append(volumes, extraVolume(extra))
	}
	return corev1.PodSpec{
		NodeSelector:     p.Settings.NodeSelector,
		Tolerations:      p.Settings.Tolerations,
		Affinity:         nodeAffinity(p.Settings.Affinity),
		RuntimeClassName: p.Settings.RuntimeClassName,
		HostAliases:      p.Settings.HostAliases,
		Volumes:          volumes,
		Containers:       []corev1.Container{p.Container(container, mounts...)},
		ImagePullSecrets: p.ImagePullSecrets,
		// Mounted Secrets become readable to the process.
		SecurityContext:              &corev1.PodSecurityContext{FSGroup: &p.UserID},
		AutomountServiceAccountToken: ptr.To(false),
		EnableServiceLinks:           ptr.To(false),
		PriorityClassName:            ptr.Deref(p.PriorityClassName, ""),
	}
}

// Container completes a container: the mounts are added before its own, and it meets the
// restricted Pod Security Standard.
func (p Pods) Container(container corev1.Container, mounts ...Mount) corev1.Container {
	mounted := make([]corev1.VolumeMount, 0, len(mounts)+len(container.VolumeMounts))
	for _, m := range mounts {
		mounted = append(mounted, corev1.VolumeMount{Name: m.Volume.Name, MountPath: m.Path, ReadOnly: !m.Writable})
	}
	container.VolumeMounts = append(mounted, container.VolumeMounts...)
	container = withExtras(container, p.Settings)
	container.SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		RunAsNonRoot:             ptr.To(true),
		RunAsUser:                &p.UserID,
		RunAsGroup:               &p.UserID,
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	// The end of the log is often the only explanation of a failure.
	container.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	return container
}

// SecretVariable sets an environment variable from a key of a Secret.
func SecretVariable(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key},
	}}
}

// Mount is a volume and the path at which it is mounted, read-only unless it is writable.
type Mount struct {
	Volume   corev1.Volume
	Path     string
	Writable bool
}

// ScratchMount mounts an empty directory for files of at most that size, which go with the
// pod.
func ScratchMount(volume, path string, size resource.Quantity) Mount {
	return Mount{Path: path, Writable: true, Volume: corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &size},
	}}}
}

// SecretMount mounts all keys of a Secret as a directory that only the process can read.
func SecretMount(volume, secret, path string) Mount {
	return Mount{Path: path, Volume: corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: ptr.To(keyFileMode)},
	}}}
}

// ProjectedMount mounts the sources as one directory that only the process can read.
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
