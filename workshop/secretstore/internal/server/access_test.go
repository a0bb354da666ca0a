package server_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	vault "github.com/hashicorp/vault/api"
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
	if err != nil || metadata["service_account_namespace"] != "ns" {
		t.Errorf("got %v, %v", metadata, err)
	}
}

func TestLoginsWithOtherAccountsOrAudiencesAreRejected(t *testing.T) {
	for _, test := range []struct{ role, token string }{
		{"eso-management", "ns/default@openbao"},
		{"eso-management", "ns/openbao-infrastructure@openbao"},
		// Any SecretStore may use the token in the pod of External Secrets.
		{"eso-management", "external-secrets/external-secrets@api"},
		{"eso-tenant", "ns/other@openbao"},
		// Any pod of the account has a token like this one.
		{"eso-tenant", "ns/default@api"},
		{"eso-tenant", "garbage"},
	} {
		if _, err := start(t).login(t, test.role, test.token); status(err) != http.StatusForbidden {
			t.Errorf("%s for %s: %v", test.token, test.role, err)
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

func TestATokenExpiresAfterItsTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		root := s.client(t, rootToken)
		role := map[string]any{"bound_service_account_names": "a", "bound_service_account_namespaces": "b", "token_ttl": "1h"}
		if err := write(t, root, "auth/kubernetes/management/role/r", role); err != nil {
			t.Fatal(err)
		}
		client := s.as(t, "r", "b/a@api")
		time.Sleep(time.Hour - time.Second)
		if _, err := client.Auth().Token().LookupSelfWithContext(t.Context()); err != nil {
			t.Errorf("shortly before: %v", err)
		}
		time.Sleep(time.Second)
		if _, err := client.Auth().Token().LookupSelfWithContext(t.Context()); status(err) != http.StatusForbidden {
			t.Errorf("after its time: %v", err)
		}
		if _, err := root.Auth().Token().LookupSelfWithContext(t.Context()); err != nil {
			t.Errorf("the root token: %v", err)
		}
	})
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

// permission is what a login may do at a path.
type permission struct {
	path                string
	read, write, remove bool
}

// The paths that External Secrets must be able to read and push for a tenant, and some
// that it must not, those of other tenants first of all.
func TestExternalSecretsMayDoWhatItsPoliciesSay(t *testing.T) {
	s := start(t)
	check(t, s, s.externalSecrets(t), []permission{
		{"openstack/placement/ns/name/db", true, false, false},
		{"bootstrap/ns/name/admin", true, true, true},
		{"openstack/keystone/ns/name/fernet-keys", true, true, true},
		{"openstack/keystone/ns/name/credential-keys", true, true, true},
		{"openstack/keystone/ns/name/admin/app-credential", true, true, true},
		{"openstack/keystone/ns/name/other", true, false, false},
		{"bootstrap/other/name/admin", false, false, false},
		{"openstack/keystone/other/name/db", false, false, false},
		{"openstack/keystone/other/name/fernet-keys", false, false, false},
		{"openstack/keystone/other/name/credential-keys", false, false, false},
		{"openstack/keystone/other/name/admin/app-credential", false, false, false},
		{"openstack/keystone/ns-2/name/db", false, false, false},
		{"openstack/keystone/standalone/db", false, false, false},
		{"infrastructure/mariadb", false, false, false},
		{"elsewhere", false, false, false},
	})
	check(t, s, s.as(t, "eso-tenant", "standalone/default@openbao"), []permission{
		{"openstack/keystone/standalone/db", false, false, false},
	})
	check(t, s, s.as(t, "eso-management", "openbao-system/openbao-infrastructure@openbao"), []permission{
		{"infrastructure/mariadb", true, false, false},
		{"openstack/keystone/standalone/db", true, false, false},
		{"openstack/keystone/ns/name/db", false, false, false},
		{"bootstrap/ns/name/admin", false, false, false},
	})
}

// check fails unless the client may do exactly what the permissions say.
func check(t *testing.T, s *store, client *vault.Client, permissions []permission) {
	t.Helper()
	root, kv := s.client(t, rootToken), client.KVv2("kv-v2")
	for _, test := range permissions {
		put(t, root, test.path, map[string]any{"v": "x"})
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
