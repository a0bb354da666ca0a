package controller

import (
	_ "embed"
	"encoding/json"
	"fmt"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/paste"
)

// Files about spec.middleware, next to the configuration.
const (
	middlewareFile = "keystone_wsgi.py"
	pasteFile      = "api-paste.ini"
)

//go:embed files/keystone_wsgi.py.tmpl
var middlewareEntry string

func pasteFilters(k *keystonev1alpha1.Keystone) []paste.Filter {
	filters := make([]paste.Filter, 0, len(k.Spec.Middleware))
	for _, middleware := range k.Spec.Middleware {
		filters = append(filters, paste.Filter{
			Name: middleware.Name, Factory: middleware.FilterFactory,
			Before: middleware.Position == keystonev1alpha1.PipelineBefore, Config: middleware.Config,
		})
	}
	return filters
}

// middlewareWSGI returns the WSGI entry that wraps Keystone's application with the
// declared filters: those before the built-in ones first, each group in the order of the
// spec. Keystone's built-in filters are part of its application, so requests pass all
// declared filters first.
func middlewareWSGI(k *keystonev1alpha1.Keystone) (string, error) {
	var before, after []string
	for _, filter := range pasteFilters(k) {
		if filter.Before {
			before = append(before, filter.Name)
		} else {
			after = append(after, filter.Name)
		}
	}
	// A JSON list of strings is also a Python list of the same strings.
	names, err := json.Marshal(append(before, after...))
	if err != nil {
		return "", fmt.Errorf("encoding the names of spec.middleware: %w", err)
	}
	return fmt.Sprintf(middlewareEntry, pass.ConfigDir+pasteFile, names), nil
}
