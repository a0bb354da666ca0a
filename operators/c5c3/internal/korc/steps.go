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

// Values that the steps working on Keystone hand to each other.
var (
	// AdminPassword is the administrator's password.
	AdminPassword = reconcile.NewSlot[string]("AdminPassword")
	// PasswordCloud is true once the Secret with the administrator's password for K-ORC
	// is owned by the control plane and up to date.
	PasswordCloud = reconcile.NewSlot[bool]("PasswordCloud")
)

// ErrNoPassword is wrapped by the error about a missing password.
var ErrNoPassword = errors.New("does not exist yet, or the key is empty")

// ReadAdminPassword reads the administrator's password. The error wraps ErrNoPassword if
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

// NoKeystone is the outcome of steps that work on Keystone if there is none.
func NoKeystone() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonKeystoneNotManaged,
		"spec.services.keystone is not set: what K-ORC manages is left as it is")
}

// Prepared is the outcome of a preparation that is done.
func Prepared() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonApplicationCredentialMinted, "")
}

// Sooner returns the shorter of two requeue delays; zero means none.
func Sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
