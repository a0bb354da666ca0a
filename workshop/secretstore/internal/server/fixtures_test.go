package server_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	vault "github.com/hashicorp/vault/api"
	kubernetes "github.com/hashicorp/vault/api/auth/kubernetes"

	"github.com/c5c3/forge/workshop/secretstore/internal/server"
)

const rootToken = "s.root-token"

// reviewer knows the service accounts whose tokens are "namespace/name@audience".
type reviewer struct{}

func (reviewer) Review(_ context.Context, token, audience string) (server.ServiceAccount, error) {
	account, meant, _ := strings.Cut(token, "@")
	namespace, name, ok := strings.Cut(account, "/")
	if !ok || audience != "" && meant != audience {
		return server.ServiceAccount{}, server.ErrNotAuthenticated
	}
	return server.ServiceAccount{Namespace: namespace, Name: name, UID: "uid"}, nil
}

// store is a running server with the policies and the role by which External
// Secrets works with it.
type store struct {
	handler http.Handler
	dir     string
	log     *strings.Builder
}

// keys are the keys of a store that is already initialised.
const keys = `{"keys": {
	"root_token": "` + rootToken + `", "unseal_keys_b64": ["k1", "k2", "k3"], "unseal_shares": 3, "unseal_threshold": 2}}`

func start(t *testing.T) *store {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "store.json"), []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir)
	s.setUp(t)
	return s
}

// serve runs a server on the data in a folder.
func serve(t *testing.T, dir string) *store {
	t.Helper()
	log := &strings.Builder{}
	handler, err := server.New(server.Options{Dir: dir, Reviewer: reviewer{}, Log: slog.New(slog.NewJSONHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return &store{handler: handler, dir: dir, log: log}
}

// RoundTrip implements http.RoundTripper without a network.
func (s *store) RoundTrip(r *http.Request) (*http.Response, error) {
	answered := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	s.handler.ServeHTTP(answered, r)
	response := answered.Result()
	response.Request = r
	return response, r.Context().Err()
}

// setUp does the same as the bootstrap scripts, with the official client.
func (s *store) setUp(t *testing.T) {
	t.Helper()
	root := s.client(t, rootToken)
	err := errors.Join(
		root.Sys().MountWithContext(t.Context(), "kv-v2", &vault.MountInput{Type: "kv", Options: map[string]string{"version": "2"}}),
		root.Sys().EnableAuthWithOptionsWithContext(t.Context(), "kubernetes/management", &vault.EnableAuthOptions{Type: "kubernetes"}),
		write(t, root, "auth/kubernetes/management/config", map[string]any{"kubernetes_host": "https://kubernetes.default.svc"}),
		write(t, root, "auth/kubernetes/management/role/eso-management", map[string]any{
			"bound_service_account_names": "openbao-infrastructure", "bound_service_account_namespaces": "openbao-system",
			"audience": "openbao", "token_ttl": "1h", "token_policies": "eso-management",
		}),
		write(t, root, "auth/kubernetes/management/role/eso-tenant", map[string]any{
			"bound_service_account_names": "default", "bound_service_account_namespaces": "*", "audience": "openbao", "token_ttl": "1h",
			"token_policies": "eso-tenant,push-keystone-keys,push-keystone-admin,push-barbican-keys,push-app-credentials",
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	logins, err := root.Logical().ReadWithContext(t.Context(), "sys/auth")
	if err != nil {
		t.Fatal(err)
	}
	accessor := logins.Data["kubernetes/management/"].(map[string]any)["accessor"].(string)
	// Go reruns the tests when the variable changes; the files themselves are not seen.
	os.Getenv("FORGE_FILES_DEPLOY")
	files, err := filepath.Glob("../../../../deploy/openbao/policies/*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatalf("found the policies %v, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".hcl")
		text := strings.ReplaceAll(string(content), "@ACCESSOR@", accessor)
		if err := root.Sys().PutPolicyWithContext(t.Context(), name, text); err != nil {
			t.Errorf("policy %s: %v", name, err)
		}
	}
}

func write(t *testing.T, client *vault.Client, path string, data map[string]any) error {
	t.Helper()
	_, err := client.Logical().WriteWithContext(t.Context(), path, data)
	return err
}

// client returns the official client, without the retries that hide failures.
func (s *store) client(t *testing.T, token string) *vault.Client {
	t.Helper()
	config := vault.DefaultConfig()
	config.HttpClient = &http.Client{Transport: s}
	config.MaxRetries = 0
	client, err := vault.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	client.SetToken(token)
	return client
}

// login returns a client that has logged in for a role as External Secrets does.
func (s *store) login(t *testing.T, role, serviceAccountToken string) (*vault.Client, error) {
	t.Helper()
	client := s.client(t, "")
	method, err := kubernetes.NewKubernetesAuth(role,
		kubernetes.WithServiceAccountToken(serviceAccountToken), kubernetes.WithMountPath("kubernetes/management"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Auth().Login(t.Context(), method)
	return client, err
}

// externalSecrets returns a client that acts for the tenant "ns".
func (s *store) externalSecrets(t *testing.T) *vault.Client {
	t.Helper()
	return s.as(t, "eso-tenant", "ns/default@openbao")
}

// as does the same for a login that has to succeed.
func (s *store) as(t *testing.T, role, serviceAccountToken string) *vault.Client {
	t.Helper()
	client, err := s.login(t, role, serviceAccountToken)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func put(t *testing.T, client *vault.Client, path string, data map[string]any) {
	t.Helper()
	if _, err := client.KVv2("kv-v2").Put(t.Context(), path, data); err != nil {
		t.Fatal(err)
	}
}

// status returns the HTTP status that an error of the client carries.
func status(err error) int {
	if response, ok := errors.AsType[*vault.ResponseError](err); ok {
		return response.StatusCode
	}
	return 0
}
