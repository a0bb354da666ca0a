package controller

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Python files that are shipped with the configuration. They are imported from the
// configuration directory through PYTHONPATH.
const (
	// credentialKeysFile compares the keys with the credentials in the database.
	credentialKeysFile = "credential_keys.py"
	cacheGuardFile     = "forge_cache.py"
	// errorsFile responds to exceptions raised by Keystone's application.
	errorsFile      = "forge_errors.py"
	cacheGuardProxy = keystonev1alpha1.CacheProxy
	// startModule is imported at every start by the start file.
	startModule    = "forge_start"
	startFile      = startModule + ".py"
	middlewareFile = "keystone_wsgi.py"
	pasteFile      = "api-paste.ini"
)

//go:embed files/forge_cache.py files/forge_errors.py files/forge_start.py files/credential_keys.py
var pythonSources embed.FS

//go:embed files/keystone_wsgi.py.tmpl
var middlewareEntry string

// embedded returns the files of this package, by name.
var embedded = sync.OnceValue(func() map[string]string {
	files := map[string]string{}
	for _, folder := range []embed.FS{pythonSources, rotationScripts} {
		// Embedded files can always be read.
		entries, _ := folder.ReadDir("files")
		for _, entry := range entries {
			content, _ := folder.ReadFile("files/" + entry.Name())
			files[entry.Name()] = string(content)
		}
	}
	return files
})

// pythonFiles returns the Python files. They are the same for every Keystone apart from
// constants: its UID, the TLS mode of the database, whether database and cache are
// managed, and whether the API server has several threads.
func pythonFiles(p *service.Pass) (map[string]string, error) {
	files := map[string]string{
		database.StartFile: keystoneDatabase.StartScript(p, startModule), deployment.ReadyFile: api.ReadyScript(p.Definition),
	}
	for _, name := range []string{credentialKeysFile, cacheGuardFile, errorsFile, startFile} {
		content, known := embedded()[name]
		if !known {
			return nil, fmt.Errorf("the operator lacks the file %s; this is a bug in the operator", name)
		}
		files[name] = content
	}
	k := keystoneOf(p)
	files[cacheGuardFile] = config.SetConstant(files[cacheGuardFile], "KEYSPACE", k.UID)
	if k.Spec.Cache.IsManaged() {
		files[cacheGuardFile] = config.SetConstant(files[cacheGuardFile], "SERVICE", cacheServers(p.Cluster, k)[0])
	}
	if k.Spec.UWSGI != nil && k.Spec.UWSGI.Threads > 1 {
		files[startFile] = config.SetConstant(files[startFile], "SEVERAL_THREADS", true)
	}
	return files, nil
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
	return fmt.Sprintf(middlewareEntry, configDir+pasteFile, names), nil
}
