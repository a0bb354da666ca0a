package controller

import (
	_ "embed"
	"encoding/json"
	"fmt"

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

//go:embed files/credential_keys.py
var credentialKeysScript string

//go:embed files/forge_cache.py
var cacheGuardScript string

//go:embed files/forge_errors.py
var errorsScript string

//go:embed files/forge_start.py
var startScript string

//go:embed files/keystone_wsgi.py.tmpl
var middlewareEntry string

// pythonFiles returns the Python files. They are the same for every Keystone apart from
// constants: its UID, the TLS mode of the database, whether database and cache are
// managed, and whether the API server has several threads.
func pythonFiles(p *service.Pass) map[string]string {
	k := keystoneOf(p)
	guard := config.SetConstant(cacheGuardScript, "KEYSPACE", k.UID)
	if k.Spec.Cache.IsManaged() {
		guard = config.SetConstant(guard, "SERVICE", cacheServers(p.Cluster, k)[0])
	}
	start := startScript
	if k.Spec.UWSGI != nil && k.Spec.UWSGI.Threads > 1 {
		start = config.SetConstant(start, "SEVERAL_THREADS", true)
	}
	return map[string]string{
		database.StartFile:   keystoneDatabase.StartScript(p, startModule),
		deployment.ReadyFile: api.ReadyScript(p.Definition),
		credentialKeysFile:   credentialKeysScript,
		cacheGuardFile:       guard,
		errorsFile:           errorsScript,
		startFile:            start,
	}
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
