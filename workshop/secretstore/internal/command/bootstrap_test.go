package command_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c5c3/forge/workshop/secretstore/internal/command"
)

func TestAStoreIsInitialisedOnceAndUnsealedWithAThresholdOfKeys(t *testing.T) {
	p := startEmpty(t)
	out, err := p.run(t, "", "status", "-format=json")
	if !errors.Is(err, command.ErrSealed) || !strings.Contains(out, `"initialized": false`) {
		t.Fatalf("at first: %s, %v", out, err)
	}
	var keys struct {
		Unseal    []string `json:"unseal_keys_b64"`
		Threshold int      `json:"unseal_threshold"`
		Root      string   `json:"root_token"`
	}
	out = p.mustRun(t, "", "operator init -format=json -key-shares=5 -key-threshold=3")
	if err := json.Unmarshal([]byte(out), &keys); err != nil || len(keys.Unseal) != 5 || keys.Threshold != 3 || keys.Root == "" {
		t.Fatalf("the keys: %v", err)
	}
	if _, err := p.run(t, "", "operator", "init"); status(err) != http.StatusBadRequest {
		t.Errorf("a second time: %v", err)
	}
	for i, key := range keys.Unseal[:3] {
		if _, err := p.run(t, "", "status"); !errors.Is(err, command.ErrSealed) {
			t.Fatalf("after %d keys: %v", i, err)
		}
		p.mustRun(t, key, "write sys/unseal key=-")
	}
	p.mustRun(t, "", "status")
}

func TestKVPutAcceptsTheDocumentedInputForms(t *testing.T) {
	p := start(t)
	file := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(file, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.mustRun(t, "from input", "kv put -mount=kv-v2 -cas=0 a/b plain=value input=- file=@"+file)
	for field, want := range map[string]string{"plain": "value", "input": "from input", "file": "from a file"} {
		if got := p.mustRun(t, "", "kv get -mount=kv-v2 -field="+field+" a/b"); got != want+"\n" {
			t.Errorf("%s: got %q", field, got)
		}
	}
	if got := p.mustRun(t, "", "kv get -format=json kv-v2/a/b"); !strings.Contains(got, "\n  \"data\": {\n    \"data\"") {
		t.Errorf("as JSON: %s", got)
	}
}

func TestEnginesAndLoginsAreEnabledOnceAndListed(t *testing.T) {
	p := start(t)
	p.mustRun(t, "", "secrets enable -path=database/mariadb database")
	p.mustRun(t, "", "auth enable -path=kubernetes/management kubernetes")
	for line, want := range map[string]string{
		"secrets list -format=json": "database/mariadb/", "auth list -format=json": "kubernetes/management/",
	} {
		var list map[string]struct{ Type, Accessor string }
		if err := json.Unmarshal([]byte(p.mustRun(t, "", line)), &list); err != nil || list[want].Accessor == "" {
			t.Errorf("%s: %v, %v", line, list, err)
		}
	}
	for _, line := range []string{
		"secrets enable -path=database/mariadb database", "secrets enable -path=kv -version=1 kv", "secrets enable transit",
	} {
		if _, err := p.run(t, "", strings.Fields(line)...); status(err) != http.StatusBadRequest {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestAPolicyIsReadAsItWasWritten(t *testing.T) {
	p := start(t)
	text := "path \"kv-v2/data/a\" {\n  capabilities = [\"read\"]\n}\n"
	p.mustRun(t, text, "policy write reader -")
	if got := p.mustRun(t, "", "policy read reader"); got != text {
		t.Errorf("got %q", got)
	}
	if _, err := p.run(t, "", "policy", "read", "other"); !errors.Is(err, command.ErrNotFound) {
		t.Errorf("another: %v", err)
	}
	for _, wrong := range []string{"path {", `path "a" { capabilities = ["own"] }`, "# nothing"} {
		if _, err := p.run(t, wrong, "policy", "write", "wrong", "-"); status(err) != http.StatusBadRequest {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestSettingsAreKeptAndNothingIsMadeOfThem(t *testing.T) {
	p := start(t)
	p.mustRun(t, "", "secrets enable -path=database/mariadb database")
	p.mustRun(t, `{"username": "root", "password": "the-secret"}`, "write database/mariadb/config/keystone-a -")
	kept, err := os.ReadFile(filepath.Join(p.data, "store.json"))
	if err != nil || !strings.Contains(string(kept), `"username": "root"`) {
		t.Errorf("they are not kept: %v", err)
	}
	for _, path := range []string{"database/mariadb/creds/keystone-a", "pki/issue/a"} {
		if _, err := p.run(t, "", "write", path, "a=b"); status(err) == 0 {
			t.Errorf("%s: the stand-in made credentials: %v", path, err)
		}
	}
}
