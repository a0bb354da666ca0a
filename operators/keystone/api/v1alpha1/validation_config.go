package v1alpha1

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/config"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Values of configuration options may be secrets, so no error here repeats one.

func checkExtraConfig(k *Keystone, at *field.Path) field.ErrorList {
	errs := config.ValidateExtra(k.Spec.ExtraConfig, at)
	for _, section := range slices.Sorted(maps.Keys(k.Spec.ExtraConfig)) {
		errs = append(errs, checkOwnOptions(section, k.Spec.ExtraConfig[section], at.Key(section))...)
	}
	return errs
}

func checkExtraConfigSecretRef(k *Keystone, at *field.Path) field.ErrorList {
	if k.Spec.ExtraConfigSecretRef == nil {
		return nil
	}
	return commonv1.ValidateSecretRef(*k.Spec.ExtraConfigSecretRef, at)
}

func checkPlugins(k *Keystone, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, plugin := range k.Spec.Plugins {
		entry, section := at.Index(i), plugin.ConfigSection
		if plugin.Name == "" {
			errs = append(errs, field.Required(entry.Child("name"), "name the plugin"))
		}
		if seen[config.Section(section)] {
			errs = append(errs, field.Duplicate(entry.Child("configSection"), section))
		}
		seen[config.Section(section)] = true
		if err := config.ValidateSection(section); err != nil {
			errs = append(errs, field.Invalid(entry.Child("configSection"), section, err.Error()))
		}
		errs = append(errs, config.ValidateOptions(plugin.Config, entry.Child("config"))...)
		errs = append(errs, checkOwnOptions(section, plugin.Config, entry.Child("config"))...)
	}
	return errs
}

func checkMiddleware(k *Keystone, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, middleware := range k.Spec.Middleware {
		entry := at.Index(i)
		if seen[middleware.Name] {
			errs = append(errs, field.Duplicate(entry.Child("name"), middleware.Name))
		}
		seen[middleware.Name] = true
		errs = append(errs, checkFilter(middleware, entry)...)
	}
	return errs
}

func checkFilter(middleware commonv1.MiddlewareSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if err := config.ValidateFilterName(middleware.Name); err != nil {
		errs = append(errs, field.Invalid(at.Child("name"), middleware.Name, err.Error()))
	}
	if err := config.ValidateFilterFactory(middleware.FilterFactory); err != nil {
		errs = append(errs, field.Invalid(at.Child("filterFactory"), middleware.FilterFactory, err.Error()))
	}
	positions := []commonv1.PipelinePosition{commonv1.PipelineBefore, commonv1.PipelineAfter}
	if !slices.Contains(positions, middleware.Position) {
		errs = append(errs, field.NotSupported(at.Child("position"), middleware.Position, positions))
	}
	errs = append(errs, config.ValidateOptions(middleware.Config, at.Child("config"))...)
	if len(errs) > 0 {
		return errs
	}
	// Some options mean something to paste.deploy itself; the renderer knows
	// which.
	_, err := config.RenderPaste([]config.PasteFilter{{
		Name: middleware.Name, Factory: middleware.FilterFactory, Config: middleware.Config,
	}})
	if err != nil {
		return field.ErrorList{field.Invalid(at.Child("config"), field.OmitValueType{}, err.Error())}
	}
	return nil
}
