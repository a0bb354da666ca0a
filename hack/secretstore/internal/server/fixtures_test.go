package server_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	vault "github.com/hashicorp/vault/api"
	kubernetes "github.com/hashicorp/vault/api/auth/kubernetes"

	"github.com/c5c3/forge/hack/secretstore/internal/auth"
	"github.com/c5c3/forge/hack/secretstore/internal/server"
)

const rootToken = "s.root-token"

// reviewer knows the service accounts whose tokens are "namespace/name".
type reviewer struct{}

func (reviewer) Review(_ context.Context, token string) (auth.ServiceAccount, error) {
	namespace, name, ok := strings.Cut(token, "/")
	if !ok {
		return auth.ServiceAccount{}, auth.ErrNotAuthenticated
	}
	return auth.ServiceAccount{Namespace: namespace, Name: name, UID: "uid"}, nil
}

// store is a running server with the configuration of the local cluster.
type store struct {
	url string
	log *strings.Builder
}

func start(t *testing.T) *store {
	t.Helper()
	// Go reruns the tests when the variable changes; the file itself is not seen.
	os.Getenv("FORGE_FILES_DEPLOY")
	config, err := server.ReadConfig("../../../../deploy/infra/secretstore/config.json")
	if err != nil {
		t.Fatal(err)
	}
	log := &strings.Builder{}
	handler, err := server.New(server.Options{
		Config:   config,
		Keys:     server.Keys{RootToken: rootToken, UnsealKeys: []string{"k1", "k2", "k3"}, Threshold: 2},
		File:     filepath.Join(t.TempDir(), "secrets.json"),
		Reviewer: reviewer{},
		Log:      slog.New(slog.NewJSONHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(handler)
	t.Cleanup(listener.Close)
	return &store{url: listener.URL, log: log}
}

// client returns the official client, without the retries that hide failures.
func (s *store) client(t *testing.T, token string) *vault.Client {
	t.Helper()
	config := vault.DefaultConfig()
	config.Address = s.url
	config.MaxRetries = 0
	client, err := vault.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	client.SetToken(token)
	return client
}

// login returns a client that has logged in as External Secrets does.
func (s *store) login(t *testing.T, serviceAccountToken string) (*vault.Client, error) {
	t.Helper()
	client := s.client(t, "")
	method, err := kubernetes.NewKubernetesAuth("eso-management",
		kubernetes.WithServiceAccountToken(serviceAccountToken), kubernetes.WithMountPath("kubernetes/management"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Auth().Login(t.Context(), method)
	return client, err
}

func (s *store) externalSecrets(t *testing.T) *vault.Client {
	t.Helper()
	client, err := s.login(t, "external-secrets/external-secrets")
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
