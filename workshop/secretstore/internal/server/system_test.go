package server_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	vault "github.com/hashicorp/vault/api"
)

func TestASealedStoreRefusesEverythingButBeingUnsealed(t *testing.T) {
	s := start(t)
	root := s.client(t, rootToken)
	put(t, root, "a", map[string]any{"v": "x"})
	if err := root.Sys().SealWithContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := root.KVv2("kv-v2").Get(t.Context(), "a"); status(err) != http.StatusServiceUnavailable {
		t.Errorf("read: %v", err)
	}
	if _, err := s.login(t, "eso-tenant", "ns/default@openbao"); status(err) != http.StatusServiceUnavailable {
		t.Errorf("login: %v", err)
	}
	state, err := root.Sys().SealStatusWithContext(t.Context())
	if err != nil || !state.Sealed || !state.Initialized {
		t.Errorf("its state: %+v, %v", state, err)
	}
	for i, key := range []string{"k1", "k1", "k3"} {
		status, err := root.Sys().UnsealWithContext(t.Context(), key)
		if err != nil || status.Sealed != (i < 2) {
			t.Fatalf("key %d: %+v, %v", i, status, err)
		}
	}
	if _, err := root.KVv2("kv-v2").Get(t.Context(), "a"); err != nil {
		t.Errorf("read after unsealing: %v", err)
	}
}

func TestAWrongKeyDoesNotUnseal(t *testing.T) {
	root := start(t).client(t, rootToken)
	if err := root.Sys().SealWithContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Sys().UnsealWithContext(t.Context(), "other"); status(err) != http.StatusBadRequest {
		t.Errorf("got %v", err)
	}
}

func TestOnlyTheRootTokenMayCallAdministrativePaths(t *testing.T) {
	eso := start(t).externalSecrets(t)
	for _, path := range []string{"sys/seal", "sys/stand-in/empty", "sys/stand-in/fault", "sys/mounts/x", "sys/policies/acl/x"} {
		if _, err := eso.Logical().WriteWithContext(t.Context(), path, nil); status(err) != http.StatusForbidden {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAFaultAffectsOnlyWhatIsBelowItsPrefix(t *testing.T) {
	root := start(t).client(t, rootToken)
	put(t, root, "a/b", map[string]any{"v": "x"})
	put(t, root, "c", map[string]any{"v": "x"})
	fault := map[string]any{"prefix": "a/", "status": 503}
	if _, err := root.Logical().WriteWithContext(t.Context(), "sys/stand-in/fault", fault); err != nil {
		t.Fatal(err)
	}
	if _, err := root.KVv2("kv-v2").Get(t.Context(), "a/b"); status(err) != http.StatusServiceUnavailable {
		t.Errorf("below: %v", err)
	}
	if _, err := root.KVv2("kv-v2").Get(t.Context(), "c"); err != nil {
		t.Errorf("beside: %v", err)
	}
	if _, err := root.Logical().WriteWithContext(t.Context(), "sys/stand-in/fault", map[string]any{"prefix": "a/"}); err != nil {
		t.Fatal(err)
	}
	if _, err := root.KVv2("kv-v2").Get(t.Context(), "a/b"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestASlowStoreAnswersLate(t *testing.T) {
	root := start(t).client(t, rootToken)
	put(t, root, "a", map[string]any{"v": "x"})
	fault := map[string]any{"prefix": "a", "delay": "1h"}
	if _, err := root.Logical().WriteWithContext(t.Context(), "sys/stand-in/fault", fault); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := root.KVv2("kv-v2").Get(ctx, "a"); err == nil || ctx.Err() == nil {
		t.Errorf("it answered: %v", err)
	}
}

func TestAnEmptiedStoreKeepsOtherPrefixes(t *testing.T) {
	root := start(t).client(t, rootToken)
	put(t, root, "a/b", map[string]any{"v": "x"})
	put(t, root, "c", map[string]any{"v": "x"})
	if _, err := root.Logical().WriteWithContext(t.Context(), "sys/stand-in/empty", map[string]any{"prefix": "a/"}); err != nil {
		t.Fatal(err)
	}
	list, err := root.Logical().ListWithContext(t.Context(), "kv-v2/metadata/")
	if err != nil || len(list.Data["keys"].([]any)) != 1 {
		t.Errorf("got %v, %v", list, err)
	}
}

func TestAStoreThatWasNotInitialisedAnswersNothing(t *testing.T) {
	s := serve(t, t.TempDir())
	if _, err := s.client(t, "").KVv2("kv-v2").Get(t.Context(), "a"); status(err) != http.StatusServiceUnavailable {
		t.Errorf("without a token: %v", err)
	}
	state, err := s.client(t, "").Sys().SealStatusWithContext(t.Context())
	if err != nil || state.Initialized || !state.Sealed {
		t.Errorf("its state: %+v, %v", state, err)
	}
}

func TestWhatIsSetUpSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir)
	answer, err := s.client(t, "").Sys().InitWithContext(t.Context(), &vault.InitRequest{SecretShares: 1, SecretThreshold: 1})
	if err != nil {
		t.Fatal(err)
	}
	root := s.client(t, answer.RootToken)
	if _, err := root.Sys().UnsealWithContext(t.Context(), answer.KeysB64[0]); err != nil {
		t.Fatal(err)
	}
	if err := root.Sys().PutPolicyWithContext(t.Context(), "p", `path "a" { capabilities = ["read"] }`); err != nil {
		t.Fatal(err)
	}
	engine := &vault.MountInput{Type: "kv", Options: map[string]string{"version": "2"}}
	if err := root.Sys().MountWithContext(t.Context(), "kv-v2", engine); err != nil {
		t.Fatal(err)
	}
	put(t, root, "a", map[string]any{"v": "x"})
	again := serve(t, dir).client(t, answer.RootToken)
	if secret, err := again.KVv2("kv-v2").Get(t.Context(), "a"); err != nil || secret.Data["v"] != "x" {
		t.Errorf("the secret is %v, %v", secret, err)
	}
	if text, err := again.Sys().GetPolicyWithContext(t.Context(), "p"); err != nil || text == "" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestARoleNeedsServiceAccountsAndAConfiguredAuthMethod(t *testing.T) {
	root := start(t).client(t, rootToken)
	err := write(t, root, "auth/kubernetes/management/role/x", map[string]any{"token_policies": "p"})
	if status(err) != http.StatusBadRequest {
		t.Errorf("a role without accounts: %v", err)
	}
	err = root.Sys().EnableAuthWithOptionsWithContext(t.Context(), "kubernetes/storage", &vault.EnableAuthOptions{Type: "kubernetes"})
	if err != nil {
		t.Fatal(err)
	}
	role := map[string]any{"bound_service_account_names": "a", "bound_service_account_namespaces": "b"}
	if err := write(t, root, "auth/kubernetes/storage/role/r", role); err != nil {
		t.Fatal(err)
	}
	login := map[string]any{"role": "r", "jwt": "b/a"}
	if err := write(t, root, "auth/kubernetes/storage/login", login); status(err) != http.StatusInternalServerError {
		t.Errorf("a login whose cluster is unknown: %v", err)
	}
}
