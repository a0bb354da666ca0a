package controller

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/deployment"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
)

const (
	settingsFile = "local_settings.py"
	checkFile    = "settings_check.py"
	// localHost is the host of requests that pods send to themselves.
	localHost = "localhost"
)

var (
	//go:embed files/local_settings.py
	settingsScript string
	//go:embed files/settings_check.py
	checkScript string
)

// files returns the configuration files by name.
func files(s *scope) (map[string]string, error) {
	script, err := localSettings(s)
	return map[string]string{
		settingsFile: script, checkFile: checkScript, deployment.ReadyFile: api.ReadyScript(s.Definition),
	}, err
}

// localSettings returns the settings of the Horizon. Each value is a constant of the file,
// and what users give is JSON in one of them: nothing of it is Python.
func localSettings(s *scope) (string, error) {
	spec, logging := s.Resource.Spec, s.Spec.Logging
	given, err := json.Marshal(spec.Settings)
	if err != nil {
		return "", fmt.Errorf("spec.settings: %w", err)
	}
	if spec.Settings == nil {
		given = []byte("{}")
	}
	levels, err := json.Marshal(logging.PerLoggerLevels)
	if err != nil {
		return "", fmt.Errorf("spec.logging.perLoggerLevels: %w", err)
	}
	if logging.PerLoggerLevels == nil {
		levels = []byte("{}")
	}
	level := logging.Level
	if logging.Debug {
		level = commonv1.LogLevelDebug
	}
	script := settingsScript
	for _, constant := range []struct {
		name  string
		value any
	}{
		{"HOSTS", hosts(s)},
		{"CACHE_SERVERS", s.Spec.Cache.Addresses(s.Cluster, s.Resource.Namespace)},
		// Several Horizons may share a memcached, and none may read the sessions of another.
		{"CACHE_PREFIX", string(s.Resource.UID)},
		{"IDENTITY_URL", spec.Identity.AuthURL},
		{"USER_DOMAIN", spec.Identity.UserDomain},
		{"MULTI_DOMAIN", spec.Identity.MultiDomain},
		{"DOMAINS", listed(spec.Identity.Domains)},
		{"PROVIDERS", providers(spec.Identity)},
		{"PUBLIC_IDENTITY_URL", cmp.Or(spec.Identity.PublicURL, spec.Identity.AuthURL)},
		{"BEHIND_TLS", spec.Gateway != nil},
		{"SECRET_KEY_FILE", keyDir + horizonv1alpha1.SecretKeyEntry},
		{"UPLOAD_DIR", uploadDir},
		{"LOG_JSON", logging.Format == commonv1.LogFormatJSON},
		{"LOG_LEVEL", string(level)},
		{"LOG_LEVELS", string(levels)},
		{"GIVEN", string(given)},
	} {
		script = config.SetConstant(script, constant.name, constant.value)
	}
	return script, nil
}

// listed returns the names as a list, also without any.
func listed(names []string) []string { return append([]string{}, names...) }

// providers returns the providers as pairs of their name and their protocol.
func providers(identity horizonv1alpha1.HorizonIdentitySpec) [][]string {
	pairs := make([][]string, 0, len(identity.Providers))
	for _, provider := range identity.Providers {
		pairs = append(pairs, []string{provider.Name, provider.Protocol})
	}
	return pairs
}

// hosts returns the names under which clients reach the Horizon. Django refuses requests for
// others, since a page may repeat the name in its links.
func hosts(s *scope) []string {
	name, namespace := s.Resource.Name, s.Resource.Namespace
	all := []string{
		localHost, "127.0.0.1", name, name + "." + namespace, name + "." + namespace + ".svc", s.Cluster.ServiceHost(name, namespace),
	}
	if s.Spec.Gateway != nil {
		all = append(all, s.Spec.Gateway.Hostname)
	}
	return all
}
