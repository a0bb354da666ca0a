package server_test

import (
	"net/http"
	"strings"
	"testing"

	vault "github.com/hashicorp/vault/api"
)

// appRole returns a store with a role for Barbican, and the identifiers of that.
func appRole(t *testing.T) (s *store, roleID, secretID string) {
	t.Helper()
	s = start(t)
	root := s.client(t, rootToken)
	if err := root.Sys().EnableAuthWithOptionsWithContext(t.Context(), "approle", &vault.EnableAuthOptions{Type: "approle"}); err != nil {
		t.Fatal(err)
	}
	policy := `path "kv-v2/data/+" { capabilities = ["create", "read", "update", "delete"] }`
	if err := root.Sys().PutPolicyWithContext(t.Context(), "barbican", policy); err != nil {
		t.Fatal(err)
	}
	settings := map[string]any{"token_policies": "barbican", "token_ttl": "20m"}
	if err := write(t, root, "auth/approle/role/barbican", settings); err != nil {
		t.Fatal(err)
	}
	return s, field(t, root, "auth/approle/role/barbican/role-id", "role_id"), issued(t, root)
}

// field reads a field at a path.
func field(t *testing.T, client *vault.Client, path, name string) string {
	t.Helper()
	answer, err := client.Logical().ReadWithContext(t.Context(), path)
	if err != nil || answer == nil {
		t.Fatal(answer, err)
	}
	value, _ := answer.Data[name].(string)
	return value
}

// issued returns a new secret identifier of the role.
func issued(t *testing.T, root *vault.Client) string {
	t.Helper()
	answer, err := root.Logical().WriteWithContext(t.Context(), "auth/approle/role/barbican/secret-id", nil)
	if err != nil {
		t.Fatal(err)
	}
	value, _ := answer.Data["secret_id"].(string)
	return value
}

// loginAppRole logs in as Barbican does, and returns the client and how long its token is valid.
func (s *store) loginAppRole(t *testing.T, roleID, secretID string) (*vault.Client, int, error) {
	t.Helper()
	client := s.client(t, "")
	identifiers := map[string]any{"role_id": roleID, "secret_id": secretID}
	answer, err := client.Logical().WriteWithContext(t.Context(), "auth/approle/login", identifiers)
	if err != nil {
		return nil, 0, err
	}
	client.SetToken(answer.Auth.ClientToken)
	return client, answer.Auth.LeaseDuration, nil
}

func TestAProgramLogsInWithARoleAndStoresWhatItsPolicyAllows(t *testing.T) {
	s, roleID, secretID := appRole(t)
	client, valid, err := s.loginAppRole(t, roleID, secretID)
	if err != nil || valid != 20*60 {
		t.Fatal(valid, err)
	}
	put(t, client, "0123456789abcdef", map[string]any{"value": "the-secret"})
	found, err := client.KVv2("kv-v2").Get(t.Context(), "0123456789abcdef")
	if err != nil || found.Data["value"] != "the-secret" {
		t.Errorf("got %v, %v", found, err)
	}
	if err := client.KVv2("kv-v2").Delete(t.Context(), "0123456789abcdef"); err != nil {
		t.Error(err)
	}
	if _, err := client.KVv2("kv-v2").Put(t.Context(), "openstack/keystone", map[string]any{"a": "b"}); status(err) != http.StatusForbidden {
		t.Errorf("outside of its policy: %v", err)
	}
	if log := s.log.String(); strings.Contains(log, secretID) || containsSecret(log) {
		t.Error(log)
	}
}

func TestAWrongIdentifierIsRefused(t *testing.T) {
	s, roleID, secretID := appRole(t)
	for name, c := range map[string]struct{ roleID, secretID, want string }{
		"no role":               {"", secretID, "missing role_id"},
		"another role":          {"other", secretID, "invalid role or secret ID"},
		"no secret ID":          {roleID, "", "invalid role or secret ID"},
		"another secret ID":     {roleID, "other", "invalid role or secret ID"},
		"exchanged identifiers": {secretID, roleID, "invalid role or secret ID"},
	} {
		_, _, err := s.loginAppRole(t, c.roleID, c.secretID)
		if status(err) != http.StatusBadRequest || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestADestroyedIdentifierIsWorthNothing(t *testing.T) {
	s, roleID, secretID := appRole(t)
	root := s.client(t, rootToken)
	next := issued(t, root)
	if err := write(t, root, "auth/approle/role/barbican/secret-id/destroy", map[string]any{"secret_id": secretID}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.loginAppRole(t, roleID, secretID); status(err) != http.StatusBadRequest {
		t.Errorf("the old one: %v", err)
	}
	if _, _, err := s.loginAppRole(t, roleID, next); err != nil {
		t.Errorf("the new one: %v", err)
	}
}

func TestARoleKeepsItsIdentifiersWhenItChanges(t *testing.T) {
	s, roleID, secretID := appRole(t)
	if err := write(t, s.client(t, rootToken), "auth/approle/role/barbican", map[string]any{"token_ttl": "1m"}); err != nil {
		t.Fatal(err)
	}
	if _, valid, err := serve(t, s.dir).loginAppRole(t, roleID, secretID); err != nil || valid != 60 {
		t.Errorf("after a restart: valid for %d, %v", valid, err)
	}
}

func TestOnlyThePermittedSeeIdentifiersOfRoles(t *testing.T) {
	s, roleID, secretID := appRole(t)
	client, _, err := s.loginAppRole(t, roleID, secretID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Logical().ReadWithContext(t.Context(), "auth/approle/role/barbican/role-id"); status(err) != http.StatusForbidden {
		t.Errorf("its identifier: %v", err)
	}
	for _, path := range []string{"", "/secret-id", "/secret-id/destroy"} {
		if err := write(t, client, "auth/approle/role/barbican"+path, map[string]any{"token_ttl": "1h"}); status(err) != http.StatusForbidden {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestASealedStoreLetsNoProgramLogIn(t *testing.T) {
	s, roleID, secretID := appRole(t)
	if err := s.client(t, rootToken).Sys().SealWithContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.loginAppRole(t, roleID, secretID); status(err) != http.StatusServiceUnavailable {
		t.Errorf("got %v", err)
	}
}

func TestThereAreNoIdentifiersOfARoleThatDoesNotExist(t *testing.T) {
	s, _, _ := appRole(t)
	root := s.client(t, rootToken)
	if answer, err := root.Logical().ReadWithContext(t.Context(), "auth/approle/role/other/role-id"); answer != nil || err != nil {
		t.Errorf("its identifier: %v, %v", answer, err)
	}
	if err := write(t, root, "auth/approle/role/other/secret-id", nil); status(err) != http.StatusNotFound {
		t.Errorf("a secret one: %v", err)
	}
	if err := write(t, root, "auth/approle/role/barbican", map[string]any{"token_ttl": "soon"}); status(err) != http.StatusBadRequest {
		t.Errorf("a role that is none: %v", err)
	}
}
