package controller

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
)

const (
	// keyDir is where the pods have the key that signs cookies.
	keyDir = "/var/lib/openstack-dashboard/secret-key/"
	// annotationKeyHash on pods is a hash of that key, keyed with the UID of its Secret.
	annotationKeyHash = "horizon.openstack.c5c3.io/secret-key-hash"
)

// keySource is the Secret with the key that signs cookies, and the entry that holds it.
type keySource struct{ Secret, Entry, Hash string }

// secretKey is where pods get the key from. The step that owns SecretKeyReady sets it.
var secretKey = reconcile.NewSlot[keySource]("SecretKey")

// reconcileSecretKey finds the key that signs cookies, or generates it once. Pods get no
// short one. It owns SecretKeyReady.
func reconcileSecretKey(ctx context.Context, s *scope) reconcile.Outcome {
	find, entry := ownKey, horizonv1alpha1.SecretKeyEntry
	if ref := s.Resource.Spec.SecretKeyRef; ref != nil {
		find, entry = givenKey, ref.KeyOr(entry)
	}
	secret, err := find(ctx, s)
	if err != nil {
		return reconcile.WriteFailed(horizonv1alpha1.ReasonSecretKeyMissing, err)
	}
	if key := strings.TrimSpace(string(secret.Data[entry])); len(key) < horizonv1alpha1.MinSecretKey {
		return reconcile.Failed(horizonv1alpha1.ReasonSecretKeyInvalid, reconcile.WaitError("", fmt.Sprintf(
			"the key under %s in Secret %s has %d characters: it needs at least %d random ones, since whoever guesses it can forge sessions",
			entry, secret.Name, len(key), horizonv1alpha1.MinSecretKey)))
	}
	keyed := &corev1.Secret{Data: map[string][]byte{entry: secret.Data[entry]}}
	keyed.UID = secret.UID
	secretKey.Put(s.Slots, keySource{secret.Name, entry, secrets.ContentHash(keyed)})
	return reconcile.Done(horizonv1alpha1.ReasonSecretKeyAvailable, "The key that signs cookies is in Secret "+secret.Name)
}

// givenKey returns the Secret of spec.secretKeyRef.
func givenKey(ctx context.Context, s *scope) (*corev1.Secret, error) {
	ref := s.Resource.Spec.SecretKeyRef
	found, missing, err := service.LookUp(ctx, s.Pass, service.Requirement{
		Name: ref.Name, Keys: []string{ref.KeyOr(horizonv1alpha1.SecretKeyEntry)}, Field: "spec.secretKeyRef",
	})
	if missing != "" {
		err = reconcile.WaitError(horizonv1alpha1.ReasonWaitingForSecretKey, missing)
	}
	return found, err
}

// ownKey returns the Secret of the operator, and creates it for a Horizon that has never
// served. One that is lost later is not replaced: all users would be logged out, and nobody
// would know why.
func ownKey(ctx context.Context, s *scope) (*corev1.Secret, error) {
	wanted := service.Irreplaceable(s.Pass, horizonv1alpha1.SecretKeyName(s.Resource.Name))
	live, err := s.Owned.Find(ctx, s.Key(wanted.Name))
	if live == nil && err == nil && s.Status.InstalledRelease == "" {
		created := &corev1.Secret{ObjectMeta: wanted, Type: corev1.SecretTypeOpaque, Data: map[string][]byte{
			horizonv1alpha1.SecretKeyEntry: []byte(rand.Text() + rand.Text()),
		}}
		err = apply.Create(ctx, s.Client, created)
		if !apierrors.IsAlreadyExists(err) {
			return created, err
		}
		err = nil
	}
	if live == nil && err == nil {
		// The cache holds only Secrets with the operator's label.
		live, err = s.Owned.FindUncached(ctx, s.Key(wanted.Name))
	}
	switch {
	case err != nil:
		return nil, err
	case live == nil:
		return nil, reconcile.TerminalError("", fmt.Errorf(
			"secret %s with the key that signs cookies is gone; restore it from a backup, or create it with at least %d random characters "+
				"under %s, which ends all sessions", wanted.Name, horizonv1alpha1.MinSecretKey, horizonv1alpha1.SecretKeyEntry))
	case secrets.Claimed(live, wanted):
		return live, nil
	}
	return s.Owned.Claim(ctx, s.Resource, live, live, wanted, nil)
}

// finalizeSecretKey deletes the key with the Horizon whose sessions it signs.
func finalizeSecretKey(ctx context.Context, s *scope) reconcile.Outcome {
	live, err := s.Owned.Find(ctx, s.Key(horizonv1alpha1.SecretKeyName(s.Resource.Name)))
	if live != nil && err == nil && service.Claims(s.Pass, live) {
		err = apply.Delete(ctx, s.Client, live)
	}
	if err != nil {
		return reconcile.Failed(horizonv1alpha1.ReasonSecretKeyMissing, err)
	}
	return reconcile.Done(horizonv1alpha1.ReasonSecretKeyAvailable, "The key that signs cookies is deleted")
}
