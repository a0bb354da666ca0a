package controller

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Python files that travel with the configuration. They are imported from the
// configuration directory through PYTHONPATH.
const (
	readyFile       = "ready.py"
	configCheckFile = "config_check.py"
	// credentialKeysFile compares the keys with the credentials in the database.
	credentialKeysFile = "credential_keys.py"
	cacheGuardFile     = "forge_cache.py"
	cacheGuardProxy    = keystonev1alpha1.CacheProxy
	// startFile has the name that Python imports at every start.
	startFile      = "sitecustomize.py"
	middlewareFile = "keystone_wsgi.py"
	pasteFile      = "api-paste.ini"
)

//go:embed files/forge_cache.py files/ready.py files/config_check.py files/credential_keys.py files/sitecustomize.py
var pythonFiles embed.FS

//go:embed files/keystone_wsgi.py.tmpl
var middlewareEntry string

// addPythonFiles adds the files that are the same for every Keystone, but for
// its UID and what the TLS mode of the database says.
func addPythonFiles(k *keystonev1alpha1.Keystone, files map[string]string) error {
	for _, name := range []string{readyFile, configCheckFile, credentialKeysFile, cacheGuardFile, startFile} {
		content, err := pythonFiles.ReadFile("files/" + name)
		if err != nil {
			return fmt.Errorf("the operator lacks the file %s; this is a bug in the operator: %w", name, err)
		}
		files[name] = string(content)
	}
	files[cacheGuardFile] = strings.Replace(files[cacheGuardFile], "\nKEYSPACE = \"\"\n", fmt.Sprintf("\nKEYSPACE = %q\n", k.UID), 1)
	if refusesPlainText(k.Spec.Database) {
		files[startFile] = strings.Replace(files[startFile], "\nREQUIRE_TLS = False\n", "\nREQUIRE_TLS = True\n", 1)
	}
	return nil
}

// middlewareWSGI is the WSGI entry that wraps Keystone's application with the
// declared filters: those before the built-in ones first, each group in the
// order of the spec. Keystone's built-in filters are part of its application,
// so that all declared ones are passed before them.
func middlewareWSGI(k *keystonev1alpha1.Keystone) (string, error) {
	var before, after []string
	for _, filter := range pasteFilters(k) {
		if filter.Before {
			before = append(before, filter.Name)
		} else {
			after = append(after, filter.Name)
		}
	}
	// A JSON list of strings is a Python list of the same strings.
	names, err := json.Marshal(append(before, after...))
	if err != nil {
		return "", fmt.Errorf("encoding the names of spec.middleware: %w", err)
	}
	return fmt.Sprintf(middlewareEntry, configDir+pasteFile, names), nil
}
