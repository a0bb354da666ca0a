package v1alpha1

import (
	"strings"
	"testing"
)

func options(section, option, value string) map[string]map[string]string {
	return map[string]map[string]string{section: {option: value}}
}

func TestASecretMayNotSetReservedOptions(t *testing.T) {
	for name, tc := range map[string]struct {
		options map[string]map[string]string
		says    []string
	}{
		"a key repository that no pod mounts": {
			options("fernet_tokens", "key_repository", "hidden"), []string{"remove [fernet_tokens] key_repository"},
		},
		"a repository of credential keys that no pod mounts": {
			options("Credential", "key_repository", "hidden"), []string{"remove [credential] key_repository"},
		},
		"tokens that the operator has no keys for": {options("TOKEN", "provider", "hidden"), []string{"remove [token] provider"}},
		"a cache without the operator's guard":     {options("cache", "proxies", "hidden"), []string{"remove [cache] proxies"}},
		"a database that the pods do not use": {
			options("database", "connection", "hidden"), []string{"remove [database] connection", "spec.database"},
		},
		"a lifetime of tokens": {
			options("token", "expiration", "hidden"), []string{"remove [token] expiration", "spec.extraConfig"},
		},
		"a lifetime of tokens that is left empty": {options("token", "expiration", ""), []string{"remove [token] expiration"}},
		"a window for expired tokens": {
			options("Token", "allow_expired_window", "hidden"), []string{"remove [token] allow_expired_window", "spec.extraConfig"},
		},
		"two of them": {
			map[string]map[string]string{"token": {"provider": "hidden", "expiration": "hidden"}, "ldap": {"password": "hidden"}},
			[]string{"remove [token] expiration", "remove [token] provider"},
		},
	} {
		err := CheckSecretOptions(tc.options)
		if err == nil {
			t.Errorf("%s is accepted", name)
			continue
		}
		for _, part := range tc.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not say %q", name, err, part)
			}
		}
		if strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %q repeats a value", name, err)
		}
	}
}

func TestASecretMaySetOtherOptions(t *testing.T) {
	for name, accepted := range map[string]map[string]map[string]string{
		"nothing":                  nil,
		"a password":               options("ldap", "password", "hidden"),
		"the operator's own value": options("token", "provider", TokenProvider),
		"its own key repository":   options("fernet_tokens", "key_repository", FernetKeyRepository+"/"),
		"the expiration of a hash": options("identity", "expiration", "1"),
	} {
		if err := CheckSecretOptions(accepted); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
