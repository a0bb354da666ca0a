package server_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/c5c3/forge/workshop/secretstore/internal/server"
)

// apiServer answers token reviews with a status, and checks who asks for what.
func apiServer(t *testing.T, code int, status map[string]any) *server.TokenReview {
	t.Helper()
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": status})
	}))
	t.Cleanup(listener.Close)
	review, err := server.NewTokenReview(&rest.Config{
		Host: listener.URL, BearerToken: "ours", ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return review
}

func TestAReviewedTokenNamesItsServiceAccount(t *testing.T) {
	review := apiServer(t, http.StatusCreated, map[string]any{
		"authenticated": true, "user": map[string]any{"username": "system:serviceaccount:ns:name", "uid": "u"},
	})
	got, err := review.Review(t.Context(), "theirs", "store")
	if want := (server.ServiceAccount{Namespace: "ns", Name: "name", UID: "u"}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestATokenOfNoServiceAccountIsNotAuthenticated(t *testing.T) {
	for name, status := range map[string]map[string]any{
		"unknown": {"authenticated": false, "error": "expired"},
		"a user":  {"authenticated": true, "user": map[string]any{"username": "admin"}},
	} {
		_, err := apiServer(t, http.StatusCreated, status).Review(t.Context(), "theirs", "store")
		if !errors.Is(err, server.ErrNotAuthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATokenReviewFailureIsNotARejection(t *testing.T) {
	_, err := apiServer(t, http.StatusInternalServerError, nil).Review(t.Context(), "theirs", "store")
	if err == nil || errors.Is(err, server.ErrNotAuthenticated) {
		t.Errorf("got %v", err)
	}
}
