package types

import "fmt"

// PodInput is a ConfigMap or Secret without which pods do not start.
//
// +kubebuilder:object:generate=false
type PodInput struct {
	// Secret tells a Secret from a ConfigMap.
	Secret bool
	Name   string
	// Keys are those that it must have.
	Keys []string
	// Field is the field of a service's spec that refers to it.
	Field string
}

// Inputs returns the ConfigMaps and Secrets to which the settings refer, apart from those
// that are optional.
func (s *PodSettings) Inputs() []PodInput {
	var all []PodInput
	for i, volume := range s.ExtraVolumes {
		at := fmt.Sprintf("spec.extraVolumes[%d].", i)
		if volume.ConfigMap != nil {
			all = append(all, volume.ConfigMap.input(false, at+"configMap"))
		}
		if volume.Secret != nil {
			all = append(all, volume.Secret.input(true, at+"secret"))
		}
	}
	for i, variable := range s.ExtraEnv {
		if variable.ValueFrom == nil {
			continue
		}
		at := fmt.Sprintf("spec.extraEnv[%d].valueFrom.", i)
		if ref := variable.ValueFrom.ConfigMapKeyRef; ref != nil && !isTrue(ref.Optional) {
			all = append(all, PodInput{Name: ref.Name, Keys: []string{ref.Key}, Field: at + "configMapKeyRef"})
		}
		if ref := variable.ValueFrom.SecretKeyRef; ref != nil && !isTrue(ref.Optional) {
			all = append(all, PodInput{Secret: true, Name: ref.Name, Keys: []string{ref.Key}, Field: at + "secretKeyRef"})
		}
	}
	return all
}

func (f *VolumeFiles) input(secret bool, field string) PodInput {
	input := PodInput{Secret: secret, Name: f.Name, Field: field}
	for _, item := range f.Items {
		input.Keys = append(input.Keys, item.Key)
	}
	return input
}

func isTrue(value *bool) bool { return value != nil && *value }
