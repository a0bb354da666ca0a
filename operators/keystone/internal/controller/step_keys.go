package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/keys"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// keyFamily is what differs between the keys that sign tokens and the keys that encrypt
// credentials.
type keyFamily struct {
	name      func(*keystonev1alpha1.Keystone) string
	maxActive func(*keystonev1alpha1.Keystone) int32
	available string
	generated string
	// needed is true if the content of the database cannot be read with other keys.
	needed bool
	// loss is what users lose if the keys are lost permanently.
	loss   string
	backup keyBackup

	// metric is the family's value of the label key_type.
	metric string
	// rotated is the reason, and the event, of a promoted rotation.
	rotated string
	// hold returns why and until when staged keys must wait.
	hold func(s *scope, r stagedRotation) hold
	// lifetime returns how long tokens or ciphertexts of a key stay in use; ok is false
	// if the configuration is unknown.
	lifetime func(s *scope) (lifetime time.Duration, ok bool)
	// rotation is the CronJob that generates new keys.
	rotation keyRotation
}

var fernetKeys = keyFamily{
	name:      fernetKeysName,
	maxActive: func(k *keystonev1alpha1.Keystone) int32 { return k.Spec.Fernet.MaxActiveKeys },
	available: keystonev1alpha1.ReasonFernetKeysAvailable,
	generated: keystonev1alpha1.EventFernetKeysGenerated,
	loss:      "every token that was issued so far becomes invalid",
	backup:    fernetBackup,
	metric:    "fernet",
	rotated:   keystonev1alpha1.ReasonFernetKeysRotated,
	hold:      holdTokenKeys,
	lifetime:  tokenLifetime,
	rotation:  fernetRotation,
}

var credentialKeys = keyFamily{
	name:      credentialKeysName,
	maxActive: func(k *keystonev1alpha1.Keystone) int32 { return k.Spec.CredentialKeys.MaxActiveKeys },
	available: keystonev1alpha1.ReasonCredentialKeysAvailable,
	generated: keystonev1alpha1.EventCredentialKeysGenerated,
	needed:    true,
	loss:      "every stored credential becomes unreadable",
	backup:    credentialBackup,
	metric:    "credential",
	rotated:   keystonev1alpha1.ReasonCredentialKeysRotated,
	hold:      holdCredentialKeys,
	// Credentials do not expire; they are encrypted again.
	lifetime: func(*scope) (time.Duration, bool) { return 0, true },
	rotation: credentialRotation,
}

func tokenLifetime(s *scope) (lifetime time.Duration, ok bool) {
	if service.Config.Value(s.Slots).Options == nil {
		return 0, false
	}
	return keystonev1alpha1.TokenLifetime(service.Config.Value(s.Slots).Options)
}

// reconcile ensures the family's key Secret: it is created once, and replaced only by
// keys that were rotated out of it.
func (f keyFamily) reconcile(ctx context.Context, s *scope) reconcile.Outcome {
	secret, created, err := f.ensure(ctx, s)
	var missing *keysMissingError
	switch {
	case errors.As(err, &missing):
		return reconcile.Terminal(keystonev1alpha1.ReasonKeysMissing, err)
	case errors.Is(err, errAwaitingDatabase), errors.Is(err, errAskingStore):
		return reconcile.Waiting(keystonev1alpha1.ReasonGeneratingKeys, err.Error())
	case err != nil:
		return reconcile.WriteFailed(keystonev1alpha1.ReasonGeneratingKeys, err)
	}
	if err := f.usable(s, secret); err != nil {
		return reconcile.Terminal(keystonev1alpha1.ReasonKeysMissing, err)
	}
	f.reportAge(s, secret)
	if err := f.backup.endRequest(ctx, s); err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonGeneratingKeys, err)
	}
	if err := f.readable(s, secret); err != nil {
		return reconcile.Terminal(keystonev1alpha1.ReasonKeysMissing, err)
	}
	if created {
		return f.done(s).WithNormalEvent(f.generated, fmt.Sprintf("Created Secret %s with %d keys", secret.Name, len(secret.Data)))
	}
	return f.promote(ctx, s, secret)
}

// done is the outcome while there is nothing to do.
func (f keyFamily) done(s *scope) reconcile.Outcome {
	return reconcile.Done(f.available, fmt.Sprintf("Secret %s holds the keys", f.name(s.keystone)))
}

// ensure returns the key Secret. It is only created while nothing can depend on an
// earlier one.
func (f keyFamily) ensure(ctx context.Context, s *scope) (*corev1.Secret, bool, error) {
	live, err := s.Owned.Find(ctx, s.Key(f.name(s.keystone)))
	if err != nil || live != nil && f.claimed(s, live) {
		return live, false, err
	}
	// The status may be lost together with the keys, for instance after a restore.
	deploy, err := deployment.Live(ctx, s.Pass)
	served := s.keystone.Status.InstalledRelease != "" || deploy != nil
	switch {
	case err != nil:
		return nil, false, err
	case !served && !databaseContent.Value(s.Slots).known && (live == nil || f.needed):
		return nil, false, errAwaitingDatabase
	case live != nil:
		return f.claim(ctx, s, live)
	}
	return f.findOrMake(ctx, s, served)
}

// findOrMake returns a key Secret that is not in the cache. It creates one if there was
// none before or if the keys are in the secret store.
func (f keyFamily) findOrMake(ctx context.Context, s *scope, served bool) (*corev1.Secret, bool, error) {
	// Once the other family is restored, the database may turn out to be readable before
	// the store has answered for this one.
	asked, err := f.backup.asked(ctx, s)
	if err != nil {
		return nil, false, err
	}
	if !served && !asked && databaseContent.Value(s.Slots).unreadable == nil {
		return f.createOrClaim(ctx, s)
	}
	live, err := s.Owned.FindLive(ctx, s.Key(f.name(s.keystone)))
	switch {
	case err != nil:
		return nil, false, err
	case live != nil:
		return f.claim(ctx, s, live)
	case served && !asked:
		return nil, false, f.missing(s)
	}
	return f.restore(ctx, s)
}

func (f keyFamily) claimed(s *scope, live *corev1.Secret) bool {
	return secrets.Claimed(s.keystone, live, definition.Labels(s.keystone.Name), s.keystone.ServiceSpec().KeepsData())
}

// claim adopts an existing Secret if it holds the keys that the Keystone needs. Any other
// Secret may be the only copy of something else.
func (f keyFamily) claim(ctx context.Context, s *scope, live *corev1.Secret) (*corev1.Secret, bool, error) {
	claimed, err := s.Owned.Claim(ctx, s.keystone, live, definition.Labels(s.keystone.Name), s.keystone.ServiceSpec().KeepsData(),
		func(found *corev1.Secret) error { return cmp.Or(f.usable(s, found), f.readable(s, found)) })
	return claimed, false, err
}

// usable rejects a Secret that does not hold a set of keys.
func (f keyFamily) usable(s *scope, secret *corev1.Secret) error {
	err := keys.ValidateInUse(secret.Data)
	if err == nil {
		return nil
	}
	return &keysMissingError{fmt.Sprintf(
		"secret %s does not hold usable keys: %v; restore it from its backup, by default %s in the secret store",
		secret.Name, err, f.backup.path(s.Cluster, s.keystone))}
}

// readable rejects keys that cannot read the credentials in the database.
func (f keyFamily) readable(s *scope, secret *corev1.Secret) error {
	unreadable := databaseContent.Value(s.Slots).unreadable
	if unreadable == nil || !f.needed {
		return nil
	}
	return &keysMissingError{fmt.Sprintf(
		"the keys in Secret %s cannot read the credentials in database %s: %v; put the keys into the Secret that the credentials "+
			"were made with, or delete the rows of table credential to accept that they are lost",
		secret.Name, s.keystone.Spec.Database.Database, unreadable)}
}

func (f keyFamily) missing(s *scope) error {
	return &keysMissingError{fmt.Sprintf("secret %s is gone; restore it from its backup, by default %s in the secret store, "+
		"or create it with new keys to accept that %s", f.name(s.keystone), f.backup.path(s.Cluster, s.keystone), f.loss)}
}

// createOrClaim creates the Secret with new keys, or claims an existing one that is not
// in the label-limited cache.
func (f keyFamily) createOrClaim(ctx context.Context, s *scope) (*corev1.Secret, bool, error) {
	desired, taken := f.create(ctx, s, nil)
	if !apierrors.IsAlreadyExists(taken) {
		return desired, true, taken
	}
	live, err := s.Owned.FindLive(ctx, s.Key(f.name(s.keystone)))
	switch {
	case err != nil:
		return nil, false, err
	case live == nil:
		// It was deleted in between: the next pass finds the name free.
		return nil, false, taken
	}
	return f.claim(ctx, s, live)
}

// restore creates the Secret with the keys from the secret store: the database holds data
// that only they can read, or did when the store was asked.
func (f keyFamily) restore(ctx context.Context, s *scope) (*corev1.Secret, bool, error) {
	stored, err := f.backup.stored(ctx, s)
	switch {
	case err != nil:
		return nil, false, err
	case stored == nil && f.needed:
		return nil, false, f.missing(s)
	}
	desired, err := f.create(ctx, s, stored)
	return desired, stored == nil, err
}

// create creates the Secret with the data, or with new keys if data is nil.
func (f keyFamily) create(ctx context.Context, s *scope, data map[string][]byte) (*corev1.Secret, error) {
	desired, err := f.newSecret(s, data)
	if err != nil {
		return nil, err
	}
	return desired, s.Owned.Create(ctx, s.keystone, desired, s.keystone.ServiceSpec().KeepsData())
}

// newSecret builds the Secret with the data, or with new keys if data is nil.
func (f keyFamily) newSecret(s *scope, data map[string][]byte) (*corev1.Secret, error) {
	k := s.keystone
	lifetime, _ := f.lifetime(s)
	if data == nil {
		var err error
		if data, err = keys.Generate(int(keys.Normalise(f.maxActive(k)))); err != nil {
			return nil, fmt.Errorf("generating keys: %w", err)
		}
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: f.name(k), Namespace: k.Namespace, Labels: definition.Labels(k.Name),
			Annotations: map[string]string{annotationKeyHistory: keys.NewHistory(data, s.Now(), lifetime).String()},
		},
		Type: corev1.SecretTypeOpaque,
		Data: data,
	}, nil
}

// errAwaitingDatabase reports that it is not known yet which keys the database needs.
var errAwaitingDatabase = errors.New(
	"no keys are generated before the database is known to hold no credentials that need other keys; see the condition DatabaseReady")

// keysMissingError reports that keys a Keystone needs are missing.
type keysMissingError struct{ text string }

func (e *keysMissingError) Error() string { return e.text }
