package ini

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Repeated holds the values of options that stand several times in a file, by section and
// option and in the order of the file. Oslo.config reads all of them if the option may have
// several values (oslo_config.cfg, MultiOpt).
type Repeated map[string]map[string][]string

// add appends a value. The first one is that of the option's first line.
func (r Repeated) add(section, key, first, value string) {
	if r[section] == nil {
		r[section] = map[string][]string{}
	}
	if len(r[section][key]) == 0 {
		r[section][key] = []string{first}
	}
	r[section][key] = append(r[section][key], value)
}

// Normalised returns the values with section names normalised by [Section].
func (r Repeated) Normalised() Repeated {
	normalised := make(Repeated, len(r))
	for section, options := range r {
		normalised[Section(section)] = maps.Clone(options)
	}
	return normalised
}

// values returns all values of an option of the file.
func (r Repeated) values(section, key, single string) []string {
	if values := r[section][key]; len(values) > 0 {
		return values
	}
	return []string{single}
}

// RenderRepeated is Render for a file in which some options stand several times, each of
// which must be in the File, too.
func (i File) RenderRepeated(repeated Repeated) (string, error) {
	if err := i.validate(); err != nil {
		return "", err
	}
	for section, options := range repeated {
		for key, values := range options {
			for _, value := range values {
				if err := ValidateValue(value); err != nil {
					return "", fmt.Errorf("section %q, option %q: %w", section, key, err)
				}
			}
		}
	}
	var out strings.Builder
	for n, section := range slices.Sorted(maps.Keys(i)) {
		if n > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "[%s]\n", section)
		for _, key := range slices.Sorted(maps.Keys(i[section])) {
			for _, value := range repeated.values(section, key, i[section][key]) {
				fmt.Fprintf(&out, "%s = %s\n", key, value)
			}
		}
	}
	return out.String(), nil
}
