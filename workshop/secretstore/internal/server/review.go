package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/rest"
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

// reviewTimeout bounds one token review.
const reviewTimeout = 10 * time.Second

// TokenReview asks a Kubernetes API server for the owner of a token.
type TokenReview struct {
	reviews authentication.TokenReviewInterface
}

// InCluster returns a reviewer that asks the API server of the pod's cluster
// with the pod's service account.
func InCluster() (*TokenReview, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster's API server: %w", err)
	}
	return NewTokenReview(config)
}

// NewTokenReview returns a reviewer that asks the API server of a configuration.
func NewTokenReview(config *rest.Config) (*TokenReview, error) {
	config = rest.CopyConfig(config)
	// The API server limits its clients itself.
	config.QPS = -1
	client, err := authentication.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create the client for token reviews: %w", err)
	}
	return &TokenReview{client.TokenReviews()}, nil
}

// Review implements Reviewer.
func (r *TokenReview) Review(ctx context.Context, token, audience string) (ServiceAccount, error) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	if audience != "" {
		review.Spec.Audiences = []string{audience}
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	answer, err := r.reviews.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return ServiceAccount{}, fmt.Errorf("review a token: %w", err)
	}
	user, belongs := strings.CutPrefix(answer.Status.User.Username, "system:serviceaccount:")
	namespace, name, _ := strings.Cut(user, ":")
	switch {
	case !answer.Status.Authenticated:
		return ServiceAccount{}, fmt.Errorf("%w: %s", ErrNotAuthenticated, answer.Status.Error)
	case !belongs:
		return ServiceAccount{}, fmt.Errorf("%w: it belongs to no service account", ErrNotAuthenticated)
	}
	return ServiceAccount{Namespace: namespace, Name: name, UID: answer.Status.User.UID}, nil
}
