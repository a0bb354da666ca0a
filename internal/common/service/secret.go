package service

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Requirement is a Secret that the spec refers to, with the keys that it must hold.
type Requirement struct {
	// Name is the name of the Secret. Each of Keys must have a value; there may be none.
	Name string
	Keys []string
	// Field is the field of the spec that refers to the Secret.
	Field string
	// Reason is the reason of the condition while the Secret or a key is missing.
	Reason string
}

// LookUp returns the Secret, or a message about what is missing.
func LookUp(ctx context.Context, p *Pass, required Requirement) (found *corev1.Secret, missing string, err error) {
	secret, err := apply.Find(ctx, p.Refs, p.Key(required.Name), &corev1.Secret{})
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", required.Field, err)
	}
	if secret == nil && len(required.Keys) == 0 {
		return nil, fmt.Sprintf("Secret %s of %s does not exist; create it", required.Name, required.Field), nil
	}
	if secret == nil {
		return nil, fmt.Sprintf("Secret %s of %s does not exist; create it with a value under %s",
			required.Name, required.Field, strings.Join(required.Keys, " and ")), nil
	}
	if lacking := secrets.MissingKeys(secret, required.Keys...); len(lacking) > 0 {
		return nil, fmt.Sprintf("Secret %s of %s lacks a value under %s; add it",
			required.Name, required.Field, strings.Join(lacking, " and ")), nil
	}
	return secret, "", nil
}

// RequireSecrets returns the Secrets in the order of the requirements. If one is missing,
// the error names it. An existing Secret is accepted regardless of its origin; External
// Secrets is only consulted to explain why a Secret does not exist.
func RequireSecrets(ctx context.Context, p *Pass, all ...Requirement) ([]*corev1.Secret, error) {
	found := make([]*corev1.Secret, 0, len(all))
	for _, required := range all {
		secret, missing, err := LookUp(ctx, p, required)
		if missing != "" {
			err = explainMissing(ctx, p, required, missing)
		}
		if err != nil {
			return nil, reconcile.WithReason(required.Reason, err)
		}
		found = append(found, secret)
	}
	return found, nil
}

// SecretsAvailable is the outcome of a step that found all required Secrets.
func SecretsAvailable() reconcile.Outcome {
	return reconcile.Done(vocabulary.ReasonSecretsAvailable, "All referenced Secrets are available")
}

// explainMissing is the error while a Secret is missing. If External Secrets is installed
// and responsible for it, the error includes what that reports.
func explainMissing(ctx context.Context, p *Pass, required Requirement, missing string) error {
	waiting := reconcile.WaitError(required.Reason, missing)
	if !p.Kinds.Served(secrets.ExternalSecretGVK) {
		return waiting
	}
	synced, err := secrets.WaitForExternalSecret(ctx, p.ThirdParty, p.Key(required.Name))
	switch {
	case apierrors.IsNotFound(err):
		return waiting
	case err != nil:
		return err
	case synced:
		return waiting
	}
	broken, err := secrets.BrokenStore(ctx, p.Kinds, p.ThirdParty)
	switch {
	case err != nil:
		return err
	case broken != "":
		return reconcile.WaitError(vocabulary.ReasonSecretStoreNotReady, fmt.Sprintf(
			"ClusterSecretStore %s is not ready, so ExternalSecret %s cannot deliver the Secret of %s; repair the store or the backend behind it",
			broken, required.Name, required.Field))
	}
	return reconcile.WaitError(required.Reason, fmt.Sprintf(
		"ExternalSecret %s has not delivered the Secret of %s yet; look at its conditions", required.Name, required.Field))
}
