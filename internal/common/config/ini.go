package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// INI is a configuration file in the format of oslo.config: options by section.
//
// Values are kept as written. Two things happen to them only when oslo.config
// reads the file, and a value may rely on both: $name and ${name} are replaced
// by the option of that name ($$ stands for one dollar sign), and one pair of
// quotes around the whole value is removed.
type INI map[string]map[string]string

// Set stores a value, creating the section if need be and replacing the value
// that was there.
func (i INI) Set(section, key, value string) {
	if i[section] == nil {
		i[section] = map[string]string{}
	}
	i[section][key] = value
}

// Get returns the value of an option and whether the option is set.
func (i INI) Get(section, key string) (string, bool) {
	value, ok := i[section][key]
	return value, ok
}

// defaultSection is the one whose name oslo.config takes as it is written.
const defaultSection = "DEFAULT"

// Section returns the name under which oslo.config knows a section: in lower case,
// but for DEFAULT (oslo_config.cfg, _normalize_group_name).
func Section(name string) string {
	if name == defaultSection {
		return name
	}
	return strings.ToLower(name)
}

// Merge returns a new INI with the options of the receiver and of the overlays,
// their sections under the names of [Section]. Where several set the same option,
// the last one wins. Nothing that is passed in is changed or shared with the
// result.
func (i INI) Merge(overlays ...INI) INI {
	merged := INI{}
	for _, layer := range append([]INI{i}, overlays...) {
		for _, name := range slices.Sorted(maps.Keys(layer)) {
			section, options := Section(name), layer[name]
			if merged[section] == nil {
				merged[section] = make(map[string]string, len(options))
			}
			maps.Copy(merged[section], options)
		}
	}
	return merged
}

// Render writes the file: sections and keys sorted, one "key = value" per line,
// a blank line between sections, every line ended by a newline.
//
// The error lists every section and option that ValidateSection, ValidateKey or
// ValidateValue refuse. It names them but never quotes a value, which may be a
// secret.
func (i INI) Render() (string, error) {
	if err := i.validate(); err != nil {
		return "", err
	}
	var out strings.Builder
	for n, section := range slices.Sorted(maps.Keys(i)) {
		if n > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "[%s]\n", section)
		for _, key := range slices.Sorted(maps.Keys(i[section])) {
			fmt.Fprintf(&out, "%s = %s\n", key, i[section][key])
		}
	}
	return out.String(), nil
}

func (i INI) validate() error {
	var errs []error
	for _, section := range slices.Sorted(maps.Keys(i)) {
		if err := ValidateSection(section); err != nil {
			errs = append(errs, fmt.Errorf("section %q: %w", section, err))
		}
		for _, key := range slices.Sorted(maps.Keys(i[section])) {
			if err := ValidateKey(key); err != nil {
				errs = append(errs, fmt.Errorf("section %q, option %q: %w", section, key, err))
			}
			if err := ValidateValue(i[section][key]); err != nil {
				errs = append(errs, fmt.Errorf("section %q, option %q: %w", section, key, err))
			}
		}
	}
	return utilerrors.NewAggregate(errs)
}
