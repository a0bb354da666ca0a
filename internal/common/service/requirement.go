package service

import (
	"context"
	"fmt"
	"strings"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

var externalSecretGVK = esov1.SchemeGroupVersion.WithKind(esov1.ExtSecretKind)

// Requirement is one Secret that the spec refers to.
type Requirement struct {
	// Name is the name of the Secret, and Keys are what it must hold.
	Name string
	Keys []string
	// Field is the field that refers to it, such as "spec.database.secretRef".
	Field string
	// Reason is that of the wait for it.
	Reason string
}

// Require returns the Secret, or the outcome of the wait for it. An existing Secret is
// accepted whatever its origin; External Secrets is consulted only to say why one does not.
func (p *Pass) Require(ctx context.Context, required Requirement) (*corev1.Secret, *reconcile.Outcome) {
	secret, missing, err := p.lookUp(ctx, required)
	switch {
	case err != nil:
		return nil, ptr.To(reconcile.Failed(required.Reason, err))
	case missing != "":
		return nil, ptr.To(p.explainMissing(ctx, required, missing))
	}
	return secret, nil
}

// lookUp returns the Secret, or says what is missing.
func (p *Pass) lookUp(ctx context.Context, required Requirement) (*corev1.Secret, string, error) {
	secret := &corev1.Secret{}
	err := p.Refs.Get(ctx, p.Key(required.Name), secret)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Sprintf("Secret %s of %s does not exist; create it with a value under %s",
			required.Name, required.Field, strings.Join(required.Keys, " and ")), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading Secret %s of %s: %w", required.Name, required.Field, err)
	}
	if missing := secrets.MissingKeys(secret, required.Keys...); len(missing) > 0 {
		return nil, fmt.Sprintf("Secret %s of %s lacks a value under %s; add it",
			required.Name, required.Field, strings.Join(missing, " and ")), nil
	}
	return secret, "", nil
}

// explainMissing words the wait for a Secret by what External Secrets, when it is
// installed and meant to deliver it, has to say.
func (p *Pass) explainMissing(ctx context.Context, required Requirement, missing string) reconcile.Outcome {
	waiting := reconcile.Waiting(required.Reason, missing)
	if !p.Kinds.Served(externalSecretGVK) {
		return waiting
	}
	synced, err := secrets.WaitForExternalSecret(ctx, p.ThirdParty, p.Key(required.Name))
	switch {
	case apierrors.IsNotFound(err):
		return waiting
	case err != nil:
		return reconcile.Failed(required.Reason, err)
	case synced:
		return waiting
	}
	broken, err := secrets.StoreBroken(ctx, p.Kinds, p.ThirdParty)
	switch {
	case err != nil:
		return reconcile.Failed(required.Reason, err)
	case broken:
		return reconcile.Waiting(vocabulary.ReasonSecretStoreNotReady, fmt.Sprintf(
			"ClusterSecretStore %s is not ready, so ExternalSecret %s cannot deliver the Secret of %s; repair the store or the backend behind it",
			secrets.StoreName, required.Name, required.Field))
	}
	return reconcile.Waiting(required.Reason, fmt.Sprintf(
		"ExternalSecret %s has not delivered the Secret of %s yet; look at its conditions", required.Name, required.Field))
}
