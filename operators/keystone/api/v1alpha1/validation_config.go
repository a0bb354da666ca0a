package v1alpha1

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/ini"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/operators/keystone/internal/paste"
)

// Values of configuration options may be secrets, so no error here repeats one.

// ValidateOptions validates options that users add to keystone.conf, by section.
func ValidateOptions(options map[string]map[string]string, at *field.Path) field.ErrorList {
	errs := ini.ValidateExtra(options, at)
	for _, section := range slices.Sorted(maps.Keys(options)) {
		errs = append(errs, checkOwnOptions(section, options[section], at.Key(section))...)
	}
	return errs
}

func checkExtraConfig(k *Keystone, at *field.Path) field.ErrorList {
	return ValidateOptions(k.Spec.ExtraConfig, at)
}

func checkGlobalExtraConfig(k *Keystone, at *field.Path) field.ErrorList {
	return ValidateOptions(k.Spec.GlobalExtraConfig, at)
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
		if seen[ini.Section(section)] {
			errs = append(errs, field.Duplicate(entry.Child("configSection"), section))
		}
		seen[ini.Section(section)] = true
		if err := ini.ValidateSection(section); err != nil {
			errs = append(errs, field.Invalid(entry.Child("configSection"), section, err.Error()))
		}
		errs = append(errs, ini.ValidateOptions(plugin.Config, entry.Child("config"))...)
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
	return append(errs, checkFilterFiles(k, at)...)
}

// fileName matches the names of files for filters, which are also keys of a ConfigMap.
var fileName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// ownFiles are the files of the operator beside those for filters, Python modules, and what
// Keystone reads as its configuration (oslo.config, --config-dir).
var ownFiles = regexp.MustCompile(`^(api-paste\.ini|policy\.yaml|sso_callback_template\.html|.*\.(conf|py))$`)

// maxFilesSize is the size of all files for filters together, in bytes. They share a
// ConfigMap of at most 1 MiB with the configuration.
const maxFilesSize = 512 << 10

func checkFilterFiles(k *Keystone, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen, size := map[string]bool{}, 0
	for i, middleware := range k.Spec.Middleware {
		for _, name := range slices.Sorted(maps.Keys(middleware.Files)) {
			file := at.Index(i).Child("files").Key(name)
			size += len(middleware.Files[name])
			switch {
			case !fileName.MatchString(name):
				errs = append(errs, field.Invalid(file, name, "must be a file name of at most 128 letters, digits, dots, hyphens and underscores"))
			case ownFiles.MatchString(name):
				errs = append(errs, field.Forbidden(file,
					"is the name of a file of the operator, or ends in .conf or .py, which Keystone reads itself; use another one"))
			case seen[name]:
				errs = append(errs, field.Duplicate(file, name))
			}
			seen[name] = true
		}
	}
	if size > maxFilesSize {
		errs = append(errs, field.Forbidden(at, fmt.Sprintf(
			"the files have %d bytes together, and at most %d fit into the ConfigMap", size, maxFilesSize)))
	}
	return errs
}

func checkFilter(middleware MiddlewareSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if err := paste.ValidateName(middleware.Name); err != nil {
		errs = append(errs, field.Invalid(at.Child("name"), middleware.Name, err.Error()))
	}
	if err := paste.ValidateFactory(middleware.FilterFactory); err != nil {
		errs = append(errs, field.Invalid(at.Child("filterFactory"), middleware.FilterFactory, err.Error()))
	}
	positions := []PipelinePosition{PipelineBefore, PipelineAfter}
	if !slices.Contains(positions, middleware.Position) {
		errs = append(errs, field.NotSupported(at.Child("position"), middleware.Position, positions))
	}
	errs = append(errs, ini.ValidateOptions(middleware.Config, at.Child("config"))...)
	if len(errs) > 0 {
		return errs
	}
	// Some options mean something to paste.deploy itself; the renderer knows
	// which.
	_, err := paste.Render([]paste.Filter{{
		Name: middleware.Name, Factory: middleware.FilterFactory, Config: middleware.Config,
	}})
	if err != nil {
		return field.ErrorList{field.Invalid(at.Child("config"), field.OmitValueType{}, err.Error())}
	}
	return nil
}
