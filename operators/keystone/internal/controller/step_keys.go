package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/keys"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// keyFamily is what differs between the keys that sign tokens and the keys
// that encrypt credentials.
type keyFamily struct {
	name      func(*keystonev1alpha1.Keystone) string
	maxActive func(*keystonev1alpha1.Keystone) int32
	available string
	generated string
	// loss is what users lose when the keys are gone for good.
	loss string
}

var fernetKeys = keyFamily{
	name:      fernetKeysName,
	maxActive: func(k *keystonev1alpha1.Keystone) int32 { return k.Spec.Fernet.MaxActiveKeys },
	available: keystonev1alpha1.ReasonFernetKeysAvailable,
	generated: keystonev1alpha1.EventFernetKeysGenerated,
	loss:      "every token that was issued so far becomes invalid",
}

var credentialKeys = keyFamily{
	name:      credentialKeysName,
	maxActive: func(k *keystonev1alpha1.Keystone) int32 { return k.Spec.CredentialKeys.MaxActiveKeys },
	available: keystonev1alpha1.ReasonCredentialKeysAvailable,
	generated: keystonev1alpha1.EventCredentialKeysGenerated,
	loss:      "every stored credential becomes unreadable",
}

// reconcile keeps the family's key Secret: created once, never replaced.
func (f keyFamily) reconcile(ctx context.Context, s *scope) reconcile.Outcome {
	secret, created, err := f.ensure(ctx, s)
	var missing *keysMissingError
	switch {
	case errors.As(err, &missing):
		return reconcile.Terminal(keystonev1alpha1.ReasonKeysMissing, err)
	case err != nil:
		return writeError(keystonev1alpha1.ReasonGeneratingKeys, err)
	}
	if err := keys.ValidateInUse(secret.Data); err != nil {
		return reconcile.Terminal(keystonev1alpha1.ReasonKeysMissing, fmt.Errorf(
			"secret %s does not hold usable keys: %w; restore it from its backup", secret.Name, err))
	}
	done := reconcile.Done(f.available, fmt.Sprintf("Secret %s holds the keys", secret.Name))
	if created {
		done = done.WithNormalEvent(f.generated, fmt.Sprintf("Created Secret %s with %d keys", secret.Name, len(secret.Data)))
	}
	return done
}

// ensure returns the key Secret, creating it only while nothing can depend on
// an earlier one.
func (f keyFamily) ensure(ctx context.Context, s *scope) (*corev1.Secret, bool, error) {
	k := s.keystone
	name := s.key(f.name(k))
	live, err := s.owned.Find(ctx, name)
	if err != nil || (live != nil && metav1.IsControlledBy(live, k)) {
		return live, false, err
	}
	if k.Status.InstalledRelease == "" {
		desired, err := f.newSecret(k)
		if err != nil {
			return nil, false, err
		}
		return s.owned.EnsureOnce(ctx, k, desired)
	}
	live, err = s.owned.Adopt(ctx, k, name, commonLabels(k))
	if err == nil && live == nil {
		err = &keysMissingError{secret: name.Name, loss: f.loss}
	}
	return live, false, err
}

func (f keyFamily) newSecret(k *keystonev1alpha1.Keystone) (*corev1.Secret, error) {
	data, err := keys.Generate(int(keys.Normalise(f.maxActive(k))))
	if err != nil {
		return nil, fmt.Errorf("generating keys: %w", err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: f.name(k), Namespace: k.Namespace, Labels: commonLabels(k)},
		Type:       corev1.SecretTypeOpaque,
		Data:       data,
	}, nil
}

// keysMissingError reports that the keys of an installed Keystone are gone.
type keysMissingError struct{ secret, loss string }

func (e *keysMissingError) Error() string {
	return fmt.Sprintf("secret %s is gone; restore it from its backup, or create it with new keys to accept that %s", e.secret, e.loss)
}
