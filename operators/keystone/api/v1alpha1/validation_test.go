package v1alpha1

import (
	"strings"
	"testing"
)

// longestName is an accepted change that no stored object can make.
const longestName = "the longest name"

// accepted are objects at the edge of what is allowed.
func accepted() map[string]func(*Keystone) {
	return map[string]func(*Keystone){
		longestName:                   func(k *Keystone) { k.Name = strings.Repeat("k", 34) },
		"a schedule by name":          func(k *Keystone) { k.Spec.TrustFlush = &TrustFlushSpec{Schedule: "@daily"} },
		"a password rotation":         func(k *Keystone) { k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{Enabled: true} },
		"a rotation that is off":      func(k *Keystone) { k.Spec.Bootstrap.PasswordRotation = &PasswordRotationSpec{} },
		"a public endpoint with port": func(k *Keystone) { publish(k, "https://keystone.example.com:8443/v3") },
		"an endpoint without Gateway": func(k *Keystone) { k.Spec.Bootstrap.PublicEndpoint = "http://keystone.example.com/v3" },
		"a middleware":                func(k *Keystone) { k.Spec.Middleware = []MiddlewareSpec{filter("audit")} },
		"federation":                  func(k *Keystone) { k.Spec.Federation = &FederationSpec{Enabled: true} },
		"what the operator sets itself": func(k *Keystone) {
			k.Spec.ExtraConfig = map[string]map[string]string{
				"Token": {"provider": "fernet", "expiration": "7200"}, "fernet_tokens": {"key_repository": "/etc/keystone/fernet-keys/"},
				"credential": {"key_repository": "/etc/keystone/credential-keys"}, "cache": {"proxies": "forge_cache.Guard", "debug": "true"},
			}
		},
	}
}

func publish(k *Keystone, endpoint string) {
	k.Spec.Gateway = gateway("keystone.example.com")
	k.Spec.Bootstrap.PublicEndpoint = endpoint
}

// emptySchedules cannot be expressed through a Go client, which leaves empty
// fields out, so that the API server fills in the default.
func emptySchedules() []violation {
	const message = "set a cron expression with five fields"
	return []violation{
		{
			"no fernet schedule", func(k *Keystone) { k.Spec.Fernet = FernetSpec{MaxActiveKeys: 3} },
			"spec.fernet.rotationSchedule", message, "", "",
		},
		{
			"no credential key schedule", func(k *Keystone) { k.Spec.CredentialKeys = CredentialKeysSpec{MaxActiveKeys: 3} },
			"spec.credentialKeys.rotationSchedule", message, "", "",
		},
		{
			"no trust flush schedule", func(k *Keystone) { k.Spec.TrustFlush = &TrustFlushSpec{} },
			"spec.trustFlush.schedule", message, "", "",
		},
	}
}

func TestErrorsDoNotRepeatConfigurationValues(t *testing.T) {
	const secret = "s3cret\nvalue"
	k := minimal()
	k.Spec.ExtraConfig = map[string]map[string]string{"ldap": {"password": secret}}
	k.Spec.Plugins = []PluginSpec{{Name: "p", ConfigSection: "p", Config: map[string]string{"token": secret}}}
	audit := filter("audit")
	audit.Config = map[string]string{"password": secret}
	k.Spec.Middleware = []MiddlewareSpec{audit}
	errs := Validate(defaulted(k))
	if len(errs) != 3 {
		t.Fatalf("want an error for each of the three values, got %v", errs)
	}
	if text := errs.ToAggregate().Error(); strings.Contains(text, "s3cret") {
		t.Errorf("an error repeats the value: %s", text)
	}
}

// immutableChanges are the changes of a stored Keystone that are refused.
func immutableChanges() []violation {
	return []violation{
		{
			Name: "administrator", Change: func(k *Keystone) { k.Spec.Bootstrap.AdminUser = "root" },
			Path: "spec.bootstrap.adminUser", Message: "bootstrap.adminUser is immutable",
		},
		{
			Name: "region", Change: func(k *Keystone) { k.Spec.Bootstrap.Region = "RegionTwo" },
			Path: "spec.bootstrap.region", Message: "bootstrap.region is immutable",
		},
	}
}

// mutableChanges are changes of a stored Keystone that look like refused ones.
func mutableChanges() map[string]func(*Keystone) {
	changes := accepted()
	delete(changes, longestName)
	return changes
}
