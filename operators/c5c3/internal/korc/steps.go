package korc

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// ErrNoPassword is the error of a password that is not there yet.
var ErrNoPassword = errors.New("does not exist yet, or the key is empty")

// ReadAdminPassword reads the administrator's password. The error is ErrNoPassword when
// there is none.
func ReadAdminPassword(ctx context.Context, s *pass.Pass) (string, error) {
	ref := s.CP.AdminSecretRef()
	secret := &corev1.Secret{}
	if err := s.Refs.Get(ctx, s.Key(ref.Name), secret); client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("reading Secret %s: %w", ref.Name, err)
	}
	password := string(secret.Data[ref.Key])
	if password == "" {
		return "", fmt.Errorf("Secret %s with the administrator's password under the key %s %w", //nolint:staticcheck // It begins with a kind.
			ref.Name, ref.Key, ErrNoPassword)
	}
	return password, nil
}

// NoKeystone is what the steps say that work on a Keystone.
func NoKeystone() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonKeystoneNotManaged,
		"spec.services.keystone is not set: what K-ORC manages is left as it is")
}

// Prepared is what a preparation says that leaves nothing to do.
func Prepared() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonApplicationCredentialMinted, "")
}

// Sooner is the earlier of two times to look again, zero for no such wish.
func Sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
