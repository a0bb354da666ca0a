package v1alpha1

import (
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/config"
)

// What the operator sets in keystone.conf and relies on elsewhere.
const (
	// FernetKeyRepository is where pods have the keys of tokens.
	FernetKeyRepository = "/etc/keystone/fernet-keys"
	// CredentialKeyRepository is where pods have the keys of credentials.
	CredentialKeyRepository = "/etc/keystone/credential-keys"
	// TokenProvider makes tokens with the keys that the operator makes and rotates.
	TokenProvider = "fernet"
	// CacheProxy keeps Keystone serving while its cache does not answer.
	CacheProxy = "forge_cache.Guard"
)

// ownOptions are options that nobody can replace: Keystone would start with
// another value, and fail later or do without what the operator promises.
var ownOptions = []struct{ section, option, value, because string }{
	{"fernet_tokens", "key_repository", FernetKeyRepository, "the pods find the keys of tokens only where the operator mounts them"},
	{"credential", "key_repository", CredentialKeyRepository, "the pods find the keys of credentials only where the operator mounts them"},
	{"token", "provider", TokenProvider, "the operator makes and rotates keys for Fernet tokens only"},
	{"cache", "proxies", CacheProxy, "without the operator's own proxy Keystone fails while its cache does not answer"},
}

// checkOwnOptions refuses another value of an option in ownOptions.
func checkOwnOptions(section string, options map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, own := range ownOptions {
		value, set := options[own.option]
		if own.section != config.Section(section) || !set || sameValue(value, own.value) {
			continue
		}
		errs = append(errs, field.Forbidden(at.Key(own.option), fmt.Sprintf("remove [%s] %s: %s", own.section, own.option, own.because)))
	}
	return errs
}

// sameValue passes over what is left open in a path: Keystone's own defaults end
// with a slash.
func sameValue(value, own string) bool {
	return value == own || strings.HasPrefix(own, "/") && path.Clean(value) == own
}
