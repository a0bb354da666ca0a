package deployment

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/service"
)

// VolumeConfig is the name of the volume with the configuration.
const VolumeConfig = "config"

// ConfigMount mounts the configuration. Options from a Secret are a separate file in the
// same directory, and so are those of further sources.
func ConfigMount(p *service.Pass, further ...corev1.VolumeProjection) Mount {
	rendered := service.Config.Value(p.Slots)
	configMap := corev1.LocalObjectReference{Name: rendered.ConfigMap}
	if rendered.Secret != "" {
		options := SecretProjection(rendered.Secret, corev1.KeyToPath{Key: rendered.SecretFile, Path: rendered.SecretFile})
		further = slices.Insert(slices.Clone(further), 0, options)
	}
	if len(further) > 0 {
		first := corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: configMap}}
		return ProjectedMount(VolumeConfig, p.ConfigDir, slices.Insert(further, 0, first)...)
	}
	source := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: configMap}}
	return Mount{Path: p.ConfigDir, Volume: corev1.Volume{Name: VolumeConfig, VolumeSource: source}}
}

// IsConfig reports whether the volume holds the current ConfigMap, with or without
// options from a Secret.
func IsConfig(p *service.Pass, volume corev1.Volume) bool {
	name := service.Config.Value(p.Slots).ConfigMap
	switch {
	case volume.Name != VolumeConfig:
		return false
	case volume.ConfigMap != nil:
		return volume.ConfigMap.Name == name
	case volume.Projected != nil:
		return slices.ContainsFunc(volume.Projected.Sources, func(source corev1.VolumeProjection) bool {
			return source.ConfigMap != nil && source.ConfigMap.Name == name
		})
	}
	return false
}

// GivenKey returns what the result of a Job that reads the configuration depends on: the
// image, the options in Secrets, and what else users have given for it to check. Another
// version of the operator, which changes the rest of the configuration, tries nothing again.
func GivenKey(p *service.Pass, given any) []any {
	return []any{p.Spec.Image.Reference(), service.Config.Value(p.Slots).Given, given}
}
