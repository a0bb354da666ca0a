// Package secrets reads and writes Kubernetes Secrets and reconciles the objects of
// External Secrets.
package secrets

import (
	"context"
	"errors"
	"fmt"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

// ErrKeyNotFound is wrapped by errors about a Secret that exists but lacks a
// key.
var ErrKeyNotFound = errors.New("key not found in Secret")

// WaitForExternalSecret reports whether the ExternalSecret is synced now. It
// does not block; an ExternalSecret that does not exist is an error.
func WaitForExternalSecret(ctx context.Context, c client.Reader, key client.ObjectKey) (bool, error) {
	externalSecret := &esov1.ExternalSecret{}
	if err := c.Get(ctx, key, externalSecret); err != nil {
		return false, fmt.Errorf("reading ExternalSecret %s: %w", key, err)
	}
	for _, condition := range externalSecret.Status.Conditions {
		if condition.Type == esov1.ExternalSecretReady {
			return condition.Status == corev1.ConditionTrue, nil
		}
	}
	return false, nil
}

// IsSecretReady reports whether the Secret exists and holds a non-empty value
// under every expected key. A missing Secret or key is not an error.
func IsSecretReady(ctx context.Context, r client.Reader, key client.ObjectKey, expectedKeys ...string) (bool, error) {
	secret, err := apply.Find(ctx, r, key, &corev1.Secret{})
	if secret == nil || err != nil {
		return false, err
	}
	return len(MissingKeys(secret, expectedKeys...)) == 0, nil
}

// MissingKeys returns the expected keys that the Secret lacks or whose value is
// empty.
func MissingKeys(secret *corev1.Secret, expectedKeys ...string) []string {
	var missing []string
	for _, key := range expectedKeys {
		if len(secret.Data[key]) == 0 {
			missing = append(missing, key)
		}
	}
	return missing
}

// GetSecretValue returns the value under dataKey. The error wraps ErrKeyNotFound if
// the key is missing, and never contains a value.
func GetSecretValue(ctx context.Context, r client.Reader, key client.ObjectKey, dataKey string) (string, error) {
	secret := &corev1.Secret{}
	if err := r.Get(ctx, key, secret); err != nil {
		return "", fmt.Errorf("reading Secret %s: %w", key, err)
	}
	value, present := secret.Data[dataKey]
	if !present {
		return "", fmt.Errorf("%w: key %q in Secret %s", ErrKeyNotFound, dataKey, key)
	}
	return string(value), nil
}
