package pass

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrNoPassword is the error of a password that is not there yet.
var ErrNoPassword = errors.New("does not exist yet, or the key is empty")

// ReadAdminPassword reads the administrator's password. The error is ErrNoPassword when
// there is none.
func ReadAdminPassword(ctx context.Context, s *Pass) (string, error) {
	ref := s.CP.AdminSecretRef()
	secret := &corev1.Secret{}
	if err := s.Refs.Get(ctx, Key(s, ref.Name), secret); client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("reading Secret %s: %w", ref.Name, err)
	}
	password := string(secret.Data[ref.Key])
	if password == "" {
		return "", fmt.Errorf("Secret %s with the administrator's password under the key %s %w", //nolint:staticcheck // It begins with a kind.
			ref.Name, ref.Key, ErrNoPassword)
	}
	return password, nil
}
