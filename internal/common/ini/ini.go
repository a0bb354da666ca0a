package ini

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// File is a configuration file in the format of oslo.config: options by section.
//
// Values are written as given. oslo.config changes them in two ways when it reads
// the file, and a value may rely on both: $name and ${name} are replaced by the
// option of that name ($$ stands for one dollar sign), and one pair of quotes
// around the whole value is removed.
type File map[string]map[string]string

// Set sets an option, and creates the section if necessary.
func (i File) Set(section, key, value string) {
	if i[section] == nil {
		i[section] = map[string]string{}
	}
	i[section][key] = value
}

// Get returns the value of an option and whether it is set.
func (i File) Get(section, key string) (string, bool) {
	value, ok := i[section][key]
	return value, ok
}

// defaultSection is the only section whose name oslo.config does not normalise.
const defaultSection = "DEFAULT"

// Section returns the name that oslo.config uses for a section: in lower case,
// except for DEFAULT (oslo_config.cfg, _normalize_group_name).
func Section(name string) string {
	if name == defaultSection {
		return name
	}
	return strings.ToLower(name)
}

// Merge returns a new File with the options of the receiver and the overlays, with
// section names normalised by [Section]. Later overlays take precedence. The result
// shares no map with its inputs, which are not modified.
func (i File) Merge(overlays ...File) File {
	merged := File{}
	for _, layer := range append([]File{i}, overlays...) {
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

// Render returns the file: sections and keys sorted, one "key = value" per line, a
// blank line between sections, and a final newline.
//
// The error lists every section and option that ValidateSection, ValidateKey or
// ValidateValue rejects. It names them but contains no value, which may be a
// secret.
func (i File) Render() (string, error) { return i.RenderRepeated(nil) }

func (i File) validate() error {
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
