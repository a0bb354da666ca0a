package ini

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateExtra validates the options that a user adds to a file, by section and
// option. No error contains a value, since it may be a secret.
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

// ValidateOptions rejects entries that would write more into a section than the one
// option that they appear to be.
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
