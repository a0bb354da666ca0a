// Package keys keeps the keys of a Keystone: those that sign tokens and those that encrypt
// credentials. It generates them once, keeps copies of them in the secret store, promotes
// rotated keys, and removes the keys with the database that they decrypt.
package keys

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// Reconcile ensures the family's key Secret: it is created once, and replaced only by keys
// that were rotated out of it.
func (f Family) Reconcile(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	secret, created, err := f.keep(ctx, s)
	switch {
	case err != nil:
		return reconcile.WriteFailed(vocabulary.ReasonGeneratingKeys, err)
	case created:
		return f.done(s).WithNormalEvent(f.generated, fmt.Sprintf("Created Secret %s with %d keys", secret.Name, len(secret.Data)))
	}
	found, err := f.promote(ctx, s, secret)
	if err == nil {
		return f.report(s, found)
	}
	failed := reconcile.Failed(vocabulary.ReasonReconcileError, err)
	if found.promoted != "" {
		return failed.WithNormalEvent(f.rotated, found.promoted)
	}
	return failed
}

// keep returns the key Secret, with keys that the Keystone can use, and whether it is new.
func (f Family) keep(ctx context.Context, s *pass.Scope) (secret *corev1.Secret, created bool, err error) {
	secret, created, err = f.Ensure(ctx, s.Pass, func(data map[string][]byte) (*corev1.Secret, error) { return f.newSecret(s, data) })
	if err != nil {
		return nil, false, err
	}
	f.reportAge(s, secret)
	return secret, created, nil
}

// newSecret builds the Secret with the data, or with new keys if data is nil.
func (f Family) newSecret(s *pass.Scope, data map[string][]byte) (*corev1.Secret, error) {
	lifetime, _ := f.lifetime(s)
	if data == nil {
		var err error
		if data, err = fernet.Generate(int(fernet.Normalise(f.maxActive(s.Resource)))); err != nil {
			return nil, fmt.Errorf("generating keys: %w", err)
		}
	}
	meta := service.Irreplaceable(s.Pass, f.Of(s.Pass))
	meta.Annotations[annotationKeyHistory] = fernet.NewHistory(data, s.Now(), lifetime).String()
	return &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeOpaque, Data: data}, nil
}

// done is the outcome while there is nothing to do.
func (f Family) done(s *pass.Scope) reconcile.Outcome {
	return reconcile.Done(f.available, fmt.Sprintf("Secret %s holds the keys", f.Of(s.Pass)))
}

// report reports what became of a rotation, or that the keys are there.
func (f Family) report(s *pass.Scope, found promotion) reconcile.Outcome {
	name := f.Of(s.Pass)
	switch {
	case found.promoted != "":
		return reconcile.Done(f.rotated, found.promoted).WithNormalEvent(f.rotated, found.promoted)
	case found.rejected != "":
		return f.done(s).WithEvent(corev1.EventTypeWarning, keystonev1alpha1.EventRotationRejected, found.rejected)
	case found.ignored != nil:
		return reconcile.Done(f.available, fmt.Sprintf("Secret %s holds the keys; a rotation is ignored: %s", name, found.ignored)).
			OnNews(corev1.EventTypeWarning, keystonev1alpha1.EventRotationAnnotationInvalid, found.ignored.Error())
	case found.stuck != "":
		return reconcile.Degraded(keystonev1alpha1.ReasonRotationFailed,
			fmt.Sprintf("Secret %s holds the keys, but a finished rotation cannot take effect: %s", name, found.stuck))
	case found.held.reason == "":
		return f.done(s)
	}
	held := reconcile.Done(f.available, fmt.Sprintf("Secret %s holds the keys; a rotation is held %s", name, found.held.reason)).
		OnNews(corev1.EventTypeNormal, keystonev1alpha1.EventRotationHeld, "The rotation of Secret "+name+" is held "+found.held.reason)
	if found.held.until.IsZero() {
		return held
	}
	// A clock that is set back must not prolong the wait, and one that has just passed the
	// time must not leave the rotation without a timer.
	return held.After(max(min(found.held.until.Sub(s.Now()), longestHoldTimer), time.Second))
}
