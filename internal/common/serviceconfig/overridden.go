package serviceconfig

import (
	"maps"
	"slices"

	"github.com/c5c3/forge/internal/common/ini"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const (
	fieldExtraConfig = "spec.extraConfig"
	fieldSecretRef   = "spec.extraConfigSecretRef"
	// byOperator says that the operator sets an option, whatever users set.
	byOperator = "operator"
)

// layer is where options of users come from.
type layer struct {
	field   string
	options ini.File
}

// overridden returns the options of spec.globalExtraConfig that have no effect, in
// alphabetical order. options are all that pods read.
func (s Settings[S]) overridden(scope S, secret secretOptions, options ini.File) []commonv1.OverriddenOption {
	given := scope.ServicePass().Options
	// The first one takes precedence.
	layers := []layer{{fieldSecretRef, secret.user}, {fieldExtraConfig, given.ExtraConfig}}
	if s.Plugins != nil {
		layers = append(layers, layer{s.Plugins.Field, s.plugins(scope)})
	}
	for i := range layers {
		layers[i].options = layers[i].options.Merge()
	}
	global := ini.File(given.GlobalExtraConfig).Merge()
	var found []commonv1.OverriddenOption
	for _, section := range slices.Sorted(maps.Keys(global)) {
		for _, option := range slices.Sorted(maps.Keys(global[section])) {
			by := setBy(layers, section, option)
			if by == "" && options[section][option] != global[section][option] {
				by = byOperator
			}
			if by != "" {
				found = append(found, commonv1.OverriddenOption{Section: section, Option: option, By: by})
			}
		}
	}
	return found
}

// setBy returns the field of the first layer with the option, "" if none has it.
func setBy(layers []layer, section, option string) string {
	for _, layer := range layers {
		if _, set := layer.options.Get(section, option); set {
			return layer.field
		}
	}
	return ""
}
