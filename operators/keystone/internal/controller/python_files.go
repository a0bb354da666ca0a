package controller

import (
	_ "embed"
	"fmt"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/digest"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// Python files that are shipped with the configuration. They are imported from the
// configuration directory through PYTHONPATH.
const (
	// credentialKeysFile compares the keys with the credentials in the database.
	credentialKeysFile = "credential_keys.py"
	cacheGuardFile     = "forge_cache.py"
	// errorsFile responds to exceptions raised by Keystone's application.
	errorsFile = "forge_errors.py"
	// startModule is imported at every start by the start file.
	startModule = "forge_start"
	startFile   = startModule + ".py"
)

//go:embed files/credential_keys.py
var credentialKeysScript string

//go:embed files/identity_domain.py
var domainScript string

//go:embed files/identity_domain_removal.py
var domainRemovalScript string

//go:embed files/identity_job.py
var identityJobScript string

//go:embed files/identity_provider.py
var providerScript string

//go:embed files/forge_cache.py
var cacheGuardScript string

//go:embed files/forge_errors.py
var errorsScript string

//go:embed files/forge_start.py
var startScript string

// keyspace returns what the keys of a Keystone in the cache begin with. After a restore, the
// cache still has what the replaced database said, such as credentials that are gone.
func keyspace(k *keystonev1alpha1.Keystone) string {
	request := k.Annotations[keystonev1alpha1.AnnotationRunAgain]
	if request == "" {
		return string(k.UID)
	}
	return fmt.Sprintf("%s-%x", k.UID, digest.Of([]byte(request)))
}

// pythonFiles returns the Python files. They are the same for every Keystone apart from
// constants: its keyspace in the cache, the TLS mode of the database, whether database and cache are
// managed, whether the API server has several threads, and the methods of logins.
func pythonFiles(s *pass.Scope) map[string]string {
	k := s.Resource
	guard := config.SetConstant(cacheGuardScript, "KEYSPACE", keyspace(k))
	if k.Spec.Cache.IsManaged() {
		guard = config.SetConstant(guard, "SERVICE", k.Spec.Cache.Addresses(s.Cluster, k.Namespace)[0])
	}
	start := config.SetConstant(startScript, "METHODS", federationOptions(s)["auth"]["methods"])
	if k.Spec.UWSGI != nil && k.Spec.UWSGI.Threads > 1 {
		start = config.SetConstant(start, "SEVERAL_THREADS", true)
	}
	return map[string]string{
		database.StartFile:   pass.Database.StartScript(s.Pass, database.Modules{Start: []string{startModule}}),
		deployment.ReadyFile: api.ReadyScript(s.Definition),
		credentialKeysFile:   credentialKeysScript,
		domainFile:           domainScript,
		domainRemovalFile:    domainRemovalScript,
		identityJobFile:      identityJobScript,
		providerFile:         providerScript,
		cacheGuardFile:       guard,
		errorsFile:           errorsScript,
		startFile:            start,
	}
}
