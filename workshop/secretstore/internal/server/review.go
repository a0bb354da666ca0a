package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ServiceAccount names a Kubernetes service account.
type ServiceAccount struct {
	Namespace, Name, UID string
}

// Reviewer returns the service account of a token, or an error that wraps
// ErrNotAuthenticated if the token is not valid, or is not meant for the audience, where
// one is given.
type Reviewer interface {
	Review(ctx context.Context, token, audience string) (ServiceAccount, error)
}

// ErrNotAuthenticated reports that a service account token is not valid.
var ErrNotAuthenticated = errors.New("the service account token is not valid")

// TokenReview asks a Kubernetes API server for the owner of a token.
type TokenReview struct {
	// Server is the base URL of the API server.
	Server string
	// TokenFile holds the token that authenticates the request.
	TokenFile string
	Client    *http.Client
}

const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// InCluster returns a reviewer that asks the API server of the pod's cluster
// with the pod's service account.
func InCluster() (*TokenReview, error) {
	authorities, err := poolOf(filepath.Join(serviceAccountDir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the cluster's certificate authority: %w", err)
	}
	return &TokenReview{
		Server:    "https://" + os.Getenv("KUBERNETES_SERVICE_HOST") + ":" + os.Getenv("KUBERNETES_SERVICE_PORT"),
		TokenFile: filepath.Join(serviceAccountDir, "token"),
		Client: &http.Client{
			Timeout:   10 * time.Second,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}},
		},
	}, nil
}

// request returns the question about a token.
func (r *TokenReview) request(ctx context.Context, token, audience string) (*http.Request, error) {
	own, err := os.ReadFile(r.TokenFile)
	if err != nil {
		return nil, fmt.Errorf("read the own service account token: %w", err)
	}
	spec := object{"token": token}
	if audience != "" {
		spec["audiences"] = []string{audience}
	}
	body, err := json.Marshal(object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec})
	if err != nil {
		return nil, fmt.Errorf("encode the token review: %w", err)
	}
	url := r.Server + "/apis/authentication.k8s.io/v1/tokenreviews"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(own)))
	request.Header.Set("Content-Type", "application/json")
	return request, nil
}

// Review implements Reviewer.
func (r *TokenReview) Review(ctx context.Context, token, audience string) (ServiceAccount, error) {
	request, err := r.request(ctx, token, audience)
	if err != nil {
		return ServiceAccount{}, err
	}
	response, err := r.Client.Do(request)
	if err != nil {
		return ServiceAccount{}, fmt.Errorf("review a token: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		return ServiceAccount{}, fmt.Errorf("review a token: the API server answered %s", response.Status)
	}
	var review struct {
		Status struct {
			Authenticated bool   `json:"authenticated"`
			Error         string `json:"error"`
			User          struct {
				Username string `json:"username"`
				UID      string `json:"uid"`
			} `json:"user"`
		} `json:"status"`
	}
	if err := json.NewDecoder(response.Body).Decode(&review); err != nil {
		return ServiceAccount{}, fmt.Errorf("decode the token review: %w", err)
	}
	user, belongs := strings.CutPrefix(review.Status.User.Username, "system:serviceaccount:")
	namespace, name, _ := strings.Cut(user, ":")
	switch {
	case !review.Status.Authenticated:
		return ServiceAccount{}, fmt.Errorf("%w: %s", ErrNotAuthenticated, review.Status.Error)
	case !belongs:
		return ServiceAccount{}, fmt.Errorf("%w: it belongs to no service account", ErrNotAuthenticated)
	}
	return ServiceAccount{Namespace: namespace, Name: name, UID: review.Status.User.UID}, nil
}
