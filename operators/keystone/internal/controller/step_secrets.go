package controller

import (
	"context"
	"fmt"
	"strings"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

var externalSecretGVK = esov1.SchemeGroupVersion.WithKind(esov1.ExtSecretKind)

// requirement is one Secret the spec refers to and the keys it must hold.
type requirement struct {
	name   string
	keys   []string
	field  string
	reason string
}

// reconcileSecrets checks that the referenced Secrets are there and complete.
// An existing Secret is accepted whatever its origin; External Secrets is consulted
// only to say why one does not.
func reconcileSecrets(ctx context.Context, s *scope) reconcile.Outcome {
	db, admin := databaseRequirement(s.keystone), adminRequirement(s.keystone)
	found := make([]*corev1.Secret, 0, 2)
	for _, required := range []requirement{db, admin} {
		secret, missing, err := s.lookUp(ctx, required)
		if err != nil {
			return reconcile.Failed(required.reason, err)
		}
		if missing != "" {
			return s.explainMissing(ctx, required, missing)
		}
		found = append(found, secret)
	}
	s.credentials = credentials{
		databaseSecret:   found[0].UID,
		databaseUser:     s.keystone.Name,
		databasePassword: found[0].Data[passwordKey(s.keystone.Spec.Database.SecretRef)],
		adminPassword:    found[1].Data[passwordKey(s.keystone.Spec.Bootstrap.AdminPasswordSecretRef)],
	}
	if !s.keystone.Spec.Database.IsManaged() {
		s.credentials.databaseUser = string(found[0].Data[commonv1.DatabaseUsernameKey])
	}
	return reconcile.Done(keystonev1alpha1.ReasonSecretsAvailable, "All referenced Secrets are available")
}

func passwordKey(ref commonv1.SecretRefSpec) string {
	return ref.KeyOr(commonv1.DatabasePasswordKey)
}

func databaseRequirement(k *keystonev1alpha1.Keystone) requirement {
	ref := k.Spec.Database.SecretRef
	return requirement{
		name: ref.Name, keys: []string{commonv1.DatabaseUsernameKey, passwordKey(ref)},
		field: "spec.database.secretRef", reason: keystonev1alpha1.ReasonWaitingForDBCredentials,
	}
}

func adminRequirement(k *keystonev1alpha1.Keystone) requirement {
	ref := k.Spec.Bootstrap.AdminPasswordSecretRef
	return requirement{
		name: ref.Name, keys: []string{passwordKey(ref)},
		field: "spec.bootstrap.adminPasswordSecretRef", reason: keystonev1alpha1.ReasonWaitingForAdminCredentials,
	}
}

// lookUp returns the Secret, or says what is missing.
func (s *scope) lookUp(ctx context.Context, required requirement) (*corev1.Secret, string, error) {
	secret := &corev1.Secret{}
	err := s.Refs.Get(ctx, s.Key(required.name), secret)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Sprintf("Secret %s of %s does not exist; create it with a value under %s",
			required.name, required.field, strings.Join(required.keys, " and ")), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading Secret %s of %s: %w", required.name, required.field, err)
	}
	if missing := secrets.MissingKeys(secret, required.keys...); len(missing) > 0 {
		return nil, fmt.Sprintf("Secret %s of %s lacks a value under %s; add it",
			required.name, required.field, strings.Join(missing, " and ")), nil
	}
	return secret, "", nil
}

// explainMissing words the wait for a Secret by what External Secrets, when it
// is installed and meant to deliver it, has to say.
func (s *scope) explainMissing(ctx context.Context, required requirement, missing string) reconcile.Outcome {
	waiting := reconcile.Waiting(required.reason, missing)
	if !s.Kinds.Served(externalSecretGVK) {
		return waiting
	}
	synced, err := secrets.WaitForExternalSecret(ctx, s.ThirdParty, s.Key(required.name))
	switch {
	case apierrors.IsNotFound(err):
		return waiting
	case err != nil:
		return reconcile.Failed(required.reason, err)
	case synced:
		return waiting
	}
	broken, err := secrets.StoreBroken(ctx, s.Kinds, s.ThirdParty)
	switch {
	case err != nil:
		return reconcile.Failed(required.reason, err)
	case broken:
		return reconcile.Waiting(keystonev1alpha1.ReasonSecretStoreNotReady, fmt.Sprintf(
			"ClusterSecretStore %s is not ready, so ExternalSecret %s cannot deliver the Secret of %s; repair the store or the backend behind it",
			secrets.StoreName, required.name, required.field))
	}
	return reconcile.Waiting(required.reason, fmt.Sprintf(
		"ExternalSecret %s has not delivered the Secret of %s yet; look at its conditions", required.name, required.field))
}
