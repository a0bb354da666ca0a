// Package paste renders the api-paste.ini of Keystone, with filters of users in its pipeline.
package paste

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/c5c3/forge/internal/common/ini"
)

// Filter is a WSGI filter in the paste.deploy pipeline of Keystone.
type Filter struct {
	// Name of the filter, unique in the pipeline, for example "audit".
	Name string
	// Factory is the Python object that creates the filter, as module:callable, for
	// example "keystonemiddleware.audit:filter_factory".
	Factory string
	// Before puts the filter in front of Keystone's own filters instead of between
	// those and the application.
	Before bool
	// Config holds the filter's options.
	Config map[string]string
}

const (
	factoryKey  = "paste.filter_factory"
	application = "admin_service"
)

// builtinFilters are listed in the order in which a request passes them.
var builtinFilters = []struct{ name, use string }{
	{"cors", "egg:oslo.middleware#cors"},
	{"sizelimit", "egg:oslo.middleware#sizelimit"},
	{"http_proxy_to_wsgi", "egg:oslo.middleware#http_proxy_to_wsgi"},
	{"url_normalize", "egg:keystone#url_normalize"},
	{"request_id", "egg:oslo.middleware#request_id"},
}

// A pipeline is split at white space, and paste.deploy interprets an entry with a
// colon or a number sign as the address of another file or egg.
var filterName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

var filterFactory = regexp.MustCompile(
	`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// Render returns Keystone's api-paste.ini with the given filters added to the
// pipeline, each group in the order given.
//
// The factory of a filter always comes from Factory: an option paste.filter_factory
// in its Config has no effect, and other options that select a factory are
// rejected. Percent signs in values are doubled, because paste.deploy interpolates
// single ones, so that the filter receives the value as given. Errors name the
// filter and what is wrong with it.
func Render(filters []Filter) (string, error) {
	file := ini.File{
		"app:" + application: {"use": "egg:keystone#service_v3"},
		"composite:main":     {"use": "egg:Paste#urlmap", "/v3": "public_api"},
	}
	builtin := make([]string, 0, len(builtinFilters))
	for _, filter := range builtinFilters {
		file.Set("filter:"+filter.name, "use", filter.use)
		builtin = append(builtin, filter.name)
	}
	file.Set("filter:cors", "oslo_config_project", "keystone")

	var before, after []string
	seen := map[string]bool{}
	for i, filter := range filters {
		if err := filter.validate(); err != nil {
			return "", fmt.Errorf("middleware[%d] (%q): %w", i, filter.Name, err)
		}
		if seen[filter.Name] {
			return "", fmt.Errorf("middleware[%d] (%q): name is used twice: give each middleware its own name", i, filter.Name)
		}
		seen[filter.Name] = true
		file["filter:"+filter.Name] = filter.options()
		if filter.Before {
			before = append(before, filter.Name)
		} else {
			after = append(after, filter.Name)
		}
	}
	pipeline := slices.Concat(before, builtin, after, []string{application})
	file.Set("pipeline:public_api", "pipeline", strings.Join(pipeline, " "))
	return file.Render()
}

// ValidateName returns an error unless the name can be used in a paste.deploy
// pipeline next to Keystone's own entries. The error does not contain the name.
func ValidateName(name string) error {
	switch {
	case name == "":
		return errors.New("name must not be empty")
	case !filterName.MatchString(name):
		return errors.New("name must consist of letters, digits, '_', '-' and '.', and begin with a letter, digit or '_'")
	case isBuiltin(name):
		return errors.New("name belongs to a built-in part of Keystone's pipeline: choose another one")
	}
	return nil
}

// ValidateFactory returns an error unless the factory has the form
// module:callable. The error does not contain the factory.
func ValidateFactory(factory string) error {
	switch {
	case factory == "":
		return errors.New("filter factory must not be empty")
	case !filterFactory.MatchString(factory):
		return errors.New("filter factory must have the form module:callable, " +
			"such as keystonemiddleware.audit:filter_factory")
	}
	return nil
}

func isBuiltin(name string) bool {
	if name == application || name == "main" || name == "public_api" {
		return true
	}
	for _, filter := range builtinFilters {
		if filter.name == name {
			return true
		}
	}
	return false
}

func (f Filter) validate() error {
	if err := ValidateName(f.Name); err != nil {
		return err
	}
	if err := ValidateFactory(f.Factory); err != nil {
		return err
	}
	for _, key := range []string{"use", "paste.filter_app_factory"} {
		if _, ok := f.Config[key]; ok {
			return fmt.Errorf("option %q would replace the filter factory: remove it", key)
		}
	}
	return nil
}

func (f Filter) options() map[string]string {
	options := make(map[string]string, len(f.Config)+1)
	for key, value := range f.Config {
		options[key] = strings.ReplaceAll(value, "%", "%%")
	}
	options[factoryKey] = f.Factory
	return options
}
