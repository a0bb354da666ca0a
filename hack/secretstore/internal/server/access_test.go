package server_test

import (
	"net/http"
	"strings"
	"testing"
)

func containsSecret(text string) bool { return strings.Contains(text, "the-secret") }

func TestAServiceAccountOfTheRoleLogsIn(t *testing.T) {
	client := start(t).externalSecrets(t)
	self, err := client.Auth().Token().LookupSelfWithContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ttl, err := self.TokenTTL()
	if err != nil || ttl.Minutes() < 59 || ttl.Minutes() > 60 {
		t.Errorf("valid for %s, %v", ttl, err)
	}
	metadata, err := self.TokenMetadata()
	if err != nil || metadata["service_account_namespace"] != "external-secrets" {
		t.Errorf("got %v, %v", metadata, err)
	}
}

func TestOthersDoNotLogIn(t *testing.T) {
	for _, token := range []string{"default/external-secrets", "external-secrets/other", "garbage"} {
		if _, err := start(t).login(t, token); status(err) != http.StatusForbidden {
			t.Errorf("%s: %v", token, err)
		}
	}
}

func TestARevokedTokenIsWorthNothing(t *testing.T) {
	client := start(t).externalSecrets(t)
	if err := client.Auth().Token().RevokeSelfWithContext(t.Context(), client.Token()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Auth().Token().LookupSelfWithContext(t.Context()); status(err) != http.StatusForbidden {
		t.Errorf("got %v", err)
	}
}

func TestRequestsWithoutAValidTokenAreRefused(t *testing.T) {
	s := start(t)
	for _, token := range []string{"", "s.other"} {
		_, err := s.client(t, token).Logical().ReadWithContext(t.Context(), "kv-v2/data/a")
		if status(err) != http.StatusForbidden {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

// The paths that External Secrets must be able to read and push, and some that it
// must not.
func TestExternalSecretsMayDoWhatItsPoliciesSay(t *testing.T) {
	s := start(t)
	root, eso := s.client(t, rootToken), s.externalSecrets(t)
	for _, test := range []struct {
		path                string
		read, write, remove bool
	}{
		{"infrastructure/mariadb", true, false, false},
		{"openstack/keystone/standalone/db", true, false, false},
		{"openstack/placement/ns/name/db", true, false, false},
		{"bootstrap/ns/name/admin", true, true, true},
		{"openstack/keystone/ns/name/fernet-keys", true, true, true},
		{"openstack/keystone/ns/name/credential-keys", true, true, true},
		{"openstack/keystone/ns/name/admin/app-credential", true, true, true},
		{"openstack/keystone/ns/name/other", true, false, false},
		{"elsewhere", false, false, false},
	} {
		put(t, root, test.path, map[string]any{"v": "x"})
		kv := eso.KVv2("kv-v2")
		_, read := kv.Get(t.Context(), test.path)
		_, metadata := kv.GetMetadata(t.Context(), test.path)
		_, write := kv.Put(t.Context(), test.path, map[string]any{"v": "y"})
		remove := kv.Delete(t.Context(), test.path)
		removeAll := kv.DeleteMetadata(t.Context(), test.path)
		for name, got := range map[string]struct {
			err  error
			want bool
		}{
			"read": {read, test.read}, "read metadata": {metadata, test.read}, "write": {write, test.write},
			"delete": {remove, test.remove}, "delete metadata": {removeAll, test.remove},
		} {
			if (got.err == nil) != got.want || (got.err != nil && status(got.err) != http.StatusForbidden) {
				t.Errorf("%s %s: permitted should be %t, got %v", name, test.path, got.want, got.err)
			}
		}
	}
}

func TestTheLogNamesPathsButNoValues(t *testing.T) {
	s := start(t)
	put(t, s.client(t, rootToken), "a/b", map[string]any{"v": "the-secret"})
	if log := s.log.String(); !strings.Contains(log, "kv-v2/data/a/b") || containsSecret(log) || strings.Contains(log, rootToken) {
		t.Error(log)
	}
}
