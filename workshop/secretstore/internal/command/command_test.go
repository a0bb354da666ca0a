package command_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	vault "github.com/hashicorp/vault/api"

	"github.com/c5c3/forge/workshop/secretstore/internal/command"
	"github.com/c5c3/forge/workshop/secretstore/internal/pki"
	"github.com/c5c3/forge/workshop/secretstore/internal/server"
)

// writeCertificates writes a certificate for 127.0.0.1, its key and authority
// under the names of a TLS Secret.
func writeCertificates(t *testing.T, dir string) {
	t.Helper()
	ca, err := pki.NewAuthority("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := ca.Issue(pki.Subject{CommonName: "test", IPAddresses: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"ca.crt": ca.PEM, "tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// pod is a running store as in its pod, and its tool.
type pod struct {
	files, data string
}

// start runs a store that is set up to take secrets.
func start(t *testing.T) *pod {
	t.Helper()
	p := startEmpty(t)
	p.mustRun(t, "", "operator init -key-shares=3 -key-threshold=2")
	p.mustRun(t, "", "operator unseal")
	p.mustRun(t, "", "secrets enable -path=kv-v2 -version=2 kv")
	return p
}

func startEmpty(t *testing.T) *pod {
	t.Helper()
	return startFor(t, tls.RequireAndVerifyClientCert)
}

// startFor starts a pod that demands of its clients what is given.
func startFor(t *testing.T, clients tls.ClientAuthType) *pod {
	t.Helper()
	p := &pod{files: t.TempDir(), data: t.TempDir()}
	writeCertificates(t, p.files)
	handler, err := server.New(server.Options{Dir: p.data, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	// From here on connections wait to be accepted.
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- server.Serve(ctx, listener, handler, server.Files(p.files, clients)) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Setenv("BAO_ADDR", "https://"+listener.Addr().String())
	t.Setenv("VAULT_CACERT", filepath.Join(p.files, "ca.crt"))
	t.Setenv("VAULT_CLIENT_CERT", filepath.Join(p.files, "tls.crt"))
	t.Setenv("VAULT_CLIENT_KEY", filepath.Join(p.files, "tls.key"))
	return p
}

func (p *pod) run(t *testing.T, in string, args ...string) (string, error) {
	t.Helper()
	keys, err := server.ReadKeys(p.data)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	tool, err := command.New(keys, strings.NewReader(in), &out)
	if err != nil {
		t.Fatal(err)
	}
	err = tool.Run(t.Context(), args)
	return out.String(), err
}

// status returns the HTTP status of an answer that is an error.
func status(err error) int {
	if answer, ok := errors.AsType[*vault.ResponseError](err); ok {
		return answer.StatusCode
	}
	return 0
}

func (p *pod) mustRun(t *testing.T, in, line string) string {
	t.Helper()
	out, err := p.run(t, in, strings.Fields(line)...)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return out
}

func TestASecretIsWrittenReadListedAndRemoved(t *testing.T) {
	p := start(t)
	p.mustRun(t, `{"password": "x"}`, "kv put -cas=0 kv-v2/a/b -")
	p.mustRun(t, "", "kv metadata put -custom-metadata=managed-by=me kv-v2/a/b")
	if got := p.mustRun(t, "", "kv get -field=password kv-v2/a/b"); got != "x\n" {
		t.Errorf("get: %q", got)
	}
	if got := p.mustRun(t, "", "kv list kv-v2/a"); got != "b\n" {
		t.Errorf("list: %q", got)
	}
	if got := p.mustRun(t, "", "kv metadata get kv-v2/a/b"); !strings.Contains(got, `"managed-by": "me"`) {
		t.Errorf("metadata: %s", got)
	}
	p.mustRun(t, "", "kv metadata delete kv-v2/a/b")
	if _, err := p.run(t, "", "kv", "list", "kv-v2/a"); !errors.Is(err, command.ErrNotFound) {
		t.Errorf("list afterwards: %v", err)
	}
}

func TestACreateOnlyWriteDoesNotOverwrite(t *testing.T) {
	p := start(t)
	p.mustRun(t, `{"v": "first"}`, "kv put -cas=0 kv-v2/a -")
	if _, err := p.run(t, `{"v": "second"}`, "kv", "put", "-cas=0", "kv-v2/a", "-"); status(err) != http.StatusBadRequest {
		t.Errorf("got %v", err)
	}
}

func TestAnOlderVersionIsShownOnRequest(t *testing.T) {
	p := start(t)
	p.mustRun(t, "", "kv put kv-v2/a v=first")
	p.mustRun(t, "", "kv put kv-v2/a v=second")
	for line, want := range map[string]string{"kv get -field=v kv-v2/a": "second\n", "kv get -version=1 -field=v kv-v2/a": "first\n"} {
		if got := p.mustRun(t, "", line); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

func TestASealedStoreIsUnsealedWithTheKeysOfThePod(t *testing.T) {
	p := start(t)
	p.mustRun(t, "", "operator seal")
	if _, err := p.run(t, "", "status"); !errors.Is(err, command.ErrSealed) {
		t.Fatalf("got %v", err)
	}
	p.mustRun(t, "", "operator unseal")
	p.mustRun(t, "", "status")
}

func TestFaultsAndEmptyingCanBeTriggeredFromTheCommandLine(t *testing.T) {
	p := start(t)
	p.mustRun(t, `{"v": "x"}`, "kv put kv-v2/a/b -")
	p.mustRun(t, "", "stand-in fault -status=418 a/")
	if _, err := p.run(t, "", "kv", "get", "kv-v2/a/b"); status(err) != http.StatusTeapot {
		t.Errorf("got %v", err)
	}
	p.mustRun(t, "", "stand-in fault a/")
	p.mustRun(t, "", "kv get kv-v2/a/b")
	p.mustRun(t, "", "stand-in empty a/")
	if _, err := p.run(t, "", "kv", "get", "kv-v2/a/b"); !errors.Is(err, command.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestUnknownCommandsAreExplained(t *testing.T) {
	for _, line := range []string{
		"", "kv", "kv get", "kv get a b", "kv put kv-v2/a", "policy write a", "write a", "stand-in fault", "stand-in empty",
	} {
		err := (&command.Tool{}).Run(t.Context(), strings.Fields(line))
		if err == nil || !strings.Contains(err.Error(), "operator seal") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestAClientOfAnotherAuthorityIsTurnedAway(t *testing.T) {
	p := start(t)
	other := t.TempDir()
	writeCertificates(t, other)
	t.Setenv("VAULT_CLIENT_CERT", filepath.Join(other, "tls.crt"))
	t.Setenv("VAULT_CLIENT_KEY", filepath.Join(other, "tls.key"))
	if out, err := p.run(t, "", "status"); err == nil || out != "" {
		t.Errorf("it got %q, %v", out, err)
	}
}

func TestAListenerForProgramsAsksForNoCertificate(t *testing.T) {
	p := startFor(t, tls.NoClientCert)
	t.Setenv("VAULT_CLIENT_CERT", "")
	t.Setenv("VAULT_CLIENT_KEY", "")
	p.mustRun(t, "", "operator init -key-shares=1 -key-threshold=1")
}

func TestTheIdentifiersOfARoleArePrinted(t *testing.T) {
	p := start(t)
	p.mustRun(t, "", "auth enable approle")
	p.mustRun(t, "", "write auth/approle/role/barbican token_policies=barbican")
	role := "read -field=role_id auth/approle/role/barbican/role-id"
	secret := "write -force -field=secret_id auth/approle/role/barbican/secret-id"
	first, id := p.mustRun(t, "", role), p.mustRun(t, "", secret)
	if len(first) < 20 || len(id) < 20 || p.mustRun(t, "", role) != first || p.mustRun(t, "", secret) == id {
		t.Errorf("the identifiers are %q and %q", first, id)
	}
	if got := p.mustRun(t, "", "read auth/approle/role/barbican/role-id"); !strings.Contains(got, strings.TrimSpace(first)) {
		t.Errorf("all of the answer: %s", got)
	}
	if _, err := p.run(t, "", "read", "auth/approle/role/other/role-id"); !errors.Is(err, command.ErrNotFound) {
		t.Errorf("of another role: %v", err)
	}
}

func TestARenewedCertificateNeedsNoRestart(t *testing.T) {
	p := start(t)
	writeCertificates(t, p.files)
	p.mustRun(t, "", "status")
}
