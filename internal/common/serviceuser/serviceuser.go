// Package serviceuser gives a service its own user to validate the tokens of its clients at
// the Identity service: the options of the middleware, including the user's Secret, and a
// check of the user before any API pod gets it.
package serviceuser

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strings"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// section is the section of the middleware that validates tokens.
const section = "keystone_authtoken"

// checkFile is the name, among the configuration files, of the Python script that logs in
// as the user.
const checkFile = "service_user.py"

//go:embed files/service_user.py
var checkScript string

// Configuration is the part of the configuration of every service with a service user. The
// resource is a [commonv1.ServiceUserDescriber].
var Configuration = serviceconfig.Part{
	Options:       options,
	SecretOptions: readLogin,
	Derived:       cacheKeyOptions,
	Files:         map[string]string{checkFile: checkScript},
	Lists:         []string{"keystonemiddleware.auth_token._opts:list_opts"},
}

func userOf(p *service.Pass) commonv1.ServiceUser {
	user, _ := commonv1.ServiceUserOf(p.Resource)
	return user
}

// options returns the options of the middleware, without the user. Those of the login are for
// a password; the secret options override them for an application credential.
func options(p *service.Pass) ini.File {
	identity := userOf(p).Identity
	options := ini.File{section: {
		"auth_type":            "password",
		"auth_url":             identity.AuthURL,
		"www_authenticate_uri": identity.AuthURL,
		"interface":            "internal",
		"project_name":         identity.Project,
		"project_domain_name":  identity.ProjectDomain,
		"user_domain_name":     identity.UserDomain,
		// Without it the middleware refuses every token with access rules.
		"service_type": p.CatalogType,
		// Only services may attach their own token to a request.
		"service_token_roles":          "service",
		"service_token_roles_required": "true",
		"memcached_servers":            strings.Join(p.Spec.Cache.Addresses(p.Cluster, p.Resource.GetNamespace()), ","),
		// The cache may be shared: without a key of the resource, everyone who may write to
		// it makes up tokens. The strategy needs nothing that an image may lack.
		"memcache_security_strategy": "MAC",
		// If the cache fails, requests must only become slower.
		"memcache_pool_socket_timeout": "1",
		"memcache_pool_dead_retry":     "10",
	}}
	if identity.Region != "" {
		options.Set(section, "region_name", identity.Region)
	}
	return options
}

// cacheKeyOptions returns the key with which the middleware names and signs what it caches: that
// of another resource, or of an earlier one with the same name, means nothing. It is
// derived from the secret of the login because it has to be secret and as long-lived.
func cacheKeyOptions(p *service.Pass, secret ini.File) ini.File {
	login := cmp.Or(secret[section][optionPassword], secret[section][commonv1.CredentialSecretKey])
	mac := hmac.New(sha256.New, []byte(login))
	mac.Write([]byte("memcache_secret_key of " + string(p.Resource.GetUID())))
	key := hex.EncodeToString(mac.Sum(nil))
	p.Hide(key)
	return ini.File{section: {"memcache_secret_key": key}}
}
