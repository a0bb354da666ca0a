package auth

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
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

// Role binds service accounts to policies; "*" stands for all names.
type Role struct {
	Names      []string `json:"bound_service_account_names"`
	Namespaces []string `json:"bound_service_account_namespaces"`
	Policies   []string `json:"token_policies"`
	// Audience is what a service account token has to be meant for, "" for anything.
	Audience string   `json:"audience"`
	TTL      Duration `json:"token_ttl"`
}

// Admits reports whether a service account may assume the role.
func (r Role) Admits(account ServiceAccount) bool {
	has := func(names []string, name string) bool {
		return slices.Contains(names, name) || slices.Contains(names, "*")
	}
	return has(r.Names, account.Name) && has(r.Namespaces, account.Namespace)
}

// Duration is written in the form "1h".
type Duration struct{ time.Duration }

// UnmarshalText parses a duration.
func (d *Duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}

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
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, errors.New("not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
	}
	ca, err := os.ReadFile(filepath.Join(serviceAccountDir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the cluster's certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return &TokenReview{
		Server:    "https://" + host + ":" + port,
		TokenFile: filepath.Join(serviceAccountDir, "token"),
		Client: &http.Client{
			Timeout:   10 * time.Second,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
		},
	}, nil
}

type tokenReview struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Spec       tokenReviewSpec   `json:"spec"`
	Status     tokenReviewStatus `json:"status,omitzero"`
}

type tokenReviewSpec struct {
	Token     string   `json:"token"`
	Audiences []string `json:"audiences,omitempty"`
}

type tokenReviewStatus struct {
	Authenticated bool   `json:"authenticated"`
	Error         string `json:"error"`
	User          struct {
		Username string `json:"username"`
		UID      string `json:"uid"`
	} `json:"user"`
}

// request asks the API server about a token.
func (r *TokenReview) request(ctx context.Context, spec tokenReviewSpec) (*http.Request, error) {
	body, err := json.Marshal(tokenReview{APIVersion: "authentication.k8s.io/v1", Kind: "TokenReview", Spec: spec})
	if err != nil {
		return nil, fmt.Errorf("encode the token review: %w", err)
	}
	own, err := os.ReadFile(r.TokenFile)
	if err != nil {
		return nil, fmt.Errorf("read the own service account token: %w", err)
	}
	url := r.Server + "/apis/authentication.k8s.io/v1/tokenreviews"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("review a token: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(own)))
	request.Header.Set("Content-Type", "application/json")
	return request, nil
}

// Review implements Reviewer.
func (r *TokenReview) Review(ctx context.Context, token, audience string) (ServiceAccount, error) {
	spec := tokenReviewSpec{Token: token}
	if audience != "" {
		spec.Audiences = []string{audience}
	}
	request, err := r.request(ctx, spec)
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
	var review tokenReview
	if err := json.NewDecoder(response.Body).Decode(&review); err != nil {
		return ServiceAccount{}, fmt.Errorf("decode the token review: %w", err)
	}
	return review.account()
}

// account returns the service account that the API server has confirmed.
func (r *tokenReview) account() (ServiceAccount, error) {
	parts := strings.Split(r.Status.User.Username, ":")
	switch {
	case !r.Status.Authenticated:
		return ServiceAccount{}, fmt.Errorf("%w: %s", ErrNotAuthenticated, r.Status.Error)
	case len(parts) != 4 || parts[0] != "system" || parts[1] != "serviceaccount":
		return ServiceAccount{}, fmt.Errorf("%w: it belongs to no service account", ErrNotAuthenticated)
	}
	return ServiceAccount{Namespace: parts[2], Name: parts[3], UID: r.Status.User.UID}, nil
}
