package v1alpha1

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/ini"
)

// What the operator sets in keystone.conf and relies on elsewhere.
const (
	// FernetKeyRepository is where the pods find the token keys.
	FernetKeyRepository = "/etc/keystone/fernet-keys"
	// CredentialKeyRepository is where the pods find the credential keys.
	CredentialKeyRepository = "/etc/keystone/credential-keys"
	// TokenProvider issues tokens with the keys that the operator generates and rotates.
	TokenProvider = "fernet"
	// CacheProxy keeps Keystone serving while its cache does not answer.
	CacheProxy = "forge_cache.Guard"
)

type ownOption struct{ section, option, value, because string }

// replacedBy reports whether the options of a section set another value.
func (o ownOption) replacedBy(section string, options map[string]string) bool {
	value, set := options[o.option]
	return set && o.section == ini.Section(section) && !sameValue(value, o.value)
}

func (o ownOption) refusal() string {
	return fmt.Sprintf("remove [%s] %s: %s", o.section, o.option, o.because)
}

// ownOptions are options that users cannot override: Keystone would start with another
// value, but fail later or lose what the operator guarantees.
var ownOptions = []ownOption{
	{"fernet_tokens", "key_repository", FernetKeyRepository, "the pods find the token keys only where the operator mounts them"},
	{"credential", "key_repository", CredentialKeyRepository, "the pods find the credential keys only where the operator mounts them"},
	{"token", "provider", TokenProvider, "the operator generates and rotates keys for Fernet tokens only"},
	{"cache", "proxies", CacheProxy, "without the operator's own proxy Keystone fails while its cache does not answer"},
}

// checkOwnOptions refuses another value of an option in ownOptions.
func checkOwnOptions(section string, options map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, own := range ownOptions {
		if own.replacedBy(section, options) {
			errs = append(errs, field.Forbidden(at.Key(own.option), own.refusal()))
		}
	}
	return errs
}

// openOptions are options that the Secret must not set, whatever their value: the
// operator has to know them from the spec, and a Secret can change without it.
var openOptions = []ownOption{
	{section: "database", option: "connection", because: "it is derived from spec.database"},
	{section: "token", option: "expiration", because: lifetimeInSpec},
	{section: "token", option: "allow_expired_window", because: lifetimeInSpec},
}

const lifetimeInSpec = "set it in spec.extraConfig, since keys are kept for as long as tokens are valid"

// CheckSecretOptions refuses options of the Secret of extraConfigSecretRef that users
// cannot override or that belong in the spec. The error names each of them and contains
// no value.
func CheckSecretOptions(options map[string]map[string]string) error {
	var refusals []string
	for section, values := range options {
		for _, own := range ownOptions {
			if own.replacedBy(section, values) {
				refusals = append(refusals, own.refusal())
			}
		}
		for _, open := range openOptions {
			if _, set := values[open.option]; set && open.section == ini.Section(section) {
				refusals = append(refusals, open.refusal())
			}
		}
	}
	if len(refusals) == 0 {
		return nil
	}
	slices.Sort(refusals)
	return errors.New(strings.Join(refusals, "; "))
}

// sameValue ignores differences in how a path is written: Keystone's own defaults end with a slash.
func sameValue(value, own string) bool {
	return value == own || strings.HasPrefix(own, "/") && path.Clean(value) == own
}
