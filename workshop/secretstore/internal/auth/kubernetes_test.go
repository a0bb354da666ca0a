package auth_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/c5c3/forge/workshop/secretstore/internal/auth"
)

// apiServer answers token reviews with a status, and checks who asks for what.
func apiServer(t *testing.T, code int, status map[string]any) *auth.TokenReview {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Kind string `json:"kind"`
			Spec struct {
				Token     string   `json:"token"`
				Audiences []string `json:"audiences"`
			} `json:"spec"`
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		if r.URL.Path != "/apis/authentication.k8s.io/v1/tokenreviews" || r.Header.Get("Authorization") != "Bearer ours" ||
			review.Kind != "TokenReview" || review.Spec.Token != "theirs" || !slices.Equal(review.Spec.Audiences, []string{"store"}) {
			t.Errorf("%s %+v %s", r.URL.Path, review, r.Header.Get("Authorization"))
		}
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": status})
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &auth.TokenReview{Server: server.URL, TokenFile: file, Client: server.Client()}
}

func TestAReviewedTokenNamesItsServiceAccount(t *testing.T) {
	review := apiServer(t, http.StatusCreated, map[string]any{
		"authenticated": true, "user": map[string]any{"username": "system:serviceaccount:ns:name", "uid": "u"},
	})
	got, err := review.Review(t.Context(), "theirs", "store")
	if want := (auth.ServiceAccount{Namespace: "ns", Name: "name", UID: "u"}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestATokenOfNoServiceAccountIsNotAuthenticated(t *testing.T) {
	for name, status := range map[string]map[string]any{
		"unknown": {"authenticated": false, "error": "expired"},
		"a user":  {"authenticated": true, "user": map[string]any{"username": "admin"}},
	} {
		if _, err := apiServer(t, http.StatusCreated, status).Review(t.Context(), "theirs", "store"); !errors.Is(err, auth.ErrNotAuthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAReviewThatFailsIsNoVerdict(t *testing.T) {
	_, err := apiServer(t, http.StatusInternalServerError, nil).Review(t.Context(), "theirs", "store")
	if err == nil || errors.Is(err, auth.ErrNotAuthenticated) {
		t.Errorf("got %v", err)
	}
}

func TestARoleAdmitsOnlyWhatItBinds(t *testing.T) {
	bound := auth.Role{Names: []string{"eso"}, Namespaces: []string{"a", "b"}}
	anywhere := auth.Role{Names: []string{"creds"}, Namespaces: []string{"*"}}
	for _, test := range []struct {
		role    auth.Role
		account auth.ServiceAccount
		want    bool
	}{
		{bound, auth.ServiceAccount{Namespace: "b", Name: "eso"}, true},
		{bound, auth.ServiceAccount{Namespace: "c", Name: "eso"}, false},
		{bound, auth.ServiceAccount{Namespace: "a", Name: "creds"}, false},
		{anywhere, auth.ServiceAccount{Namespace: "c", Name: "creds"}, true},
		{auth.Role{}, auth.ServiceAccount{Namespace: "a", Name: "eso"}, false},
	} {
		if got := test.role.Admits(test.account); got != test.want {
			t.Errorf("%+v admits %+v: %t", test.role, test.account, got)
		}
	}
}
