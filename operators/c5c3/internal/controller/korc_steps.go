package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// What the steps that work on Keystone hand to each other.
var (
	// adminPassword is the administrator's password.
	adminPassword = reconcile.NewSlot[string]("AdminPassword")
	// passwordCloud is true once the Secret with the administrator's password for K-ORC
	// is the control plane's own and up to date.
	passwordCloud = reconcile.NewSlot[bool]("PasswordCloud")
)

// errNoPassword is the error of a password that is not there yet.
var errNoPassword = errors.New("does not exist yet, or the key is empty")

// readAdminPassword reads the administrator's password. The error is errNoPassword when
// there is none.
func (s *scope) readAdminPassword(ctx context.Context) (string, error) {
	ref := s.cp.AdminSecretRef()
	secret := &corev1.Secret{}
	if err := s.refs.Get(ctx, s.key(ref.Name), secret); client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("reading Secret %s: %w", ref.Name, err)
	}
	password := string(secret.Data[ref.Key])
	if password == "" {
		return "", fmt.Errorf("Secret %s with the administrator's password under the key %s %w", //nolint:staticcheck // It begins with a kind.
			ref.Name, ref.Key, errNoPassword)
	}
	return password, nil
}

// noKeystone is what the steps say that work on a Keystone.
func noKeystone() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonKeystoneNotManaged,
		"spec.services.keystone is not set: what K-ORC manages is left as it is")
}

// prepared is what a preparation says that leaves nothing to do.
func prepared() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonApplicationCredentialMinted, "")
}

// sooner is the earlier of two times to look again, zero for no such wish.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
