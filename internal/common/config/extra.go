package config

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateExtra returns what is wrong with options that a user adds to a file, by section
// and option. Values may be secrets, so no error repeats one.
func ValidateExtra(sections map[string]map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		if seen[Section(name)] {
			errs = append(errs, field.Duplicate(at.Key(name), name))
		}
		seen[Section(name)] = true
		if err := ValidateSection(name); err != nil {
			errs = append(errs, field.Invalid(at.Key(name), name, err.Error()))
		}
		errs = append(errs, ValidateOptions(sections[name], at.Key(name))...)
	}
	return errs
}

// ValidateOptions refuses whatever would write more into a section than the one option it
// looks like.
func ValidateOptions(options map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if err := ValidateKey(name); err != nil {
			errs = append(errs, field.Invalid(at.Key(name), name, err.Error()))
		}
		if err := ValidateValue(options[name]); err != nil {
			errs = append(errs, field.Invalid(at.Key(name), field.OmitValueType{}, err.Error()))
		}
	}
	return errs
}
