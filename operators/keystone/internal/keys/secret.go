package keys

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// ensure returns the key Secret. It is only created while nothing can depend on an
// earlier one.
func (f Family) ensure(ctx context.Context, s *pass.Scope) (*corev1.Secret, bool, error) {
	live, err := s.Owned.Find(ctx, s.Key(f.name(s.Resource)))
	if err != nil || live != nil && f.claimed(s, live) {
		return live, false, err
	}
	// The status may be lost together with the keys, for instance after a restore.
	deploy, err := deployment.Live(ctx, s.Pass)
	served := s.Resource.Status.InstalledRelease != "" || deploy != nil
	switch {
	case err != nil:
		return nil, false, err
	case !served && !pass.DatabaseContent.Value(s.Slots).Known && (live == nil || f.needed):
		return nil, false, errAwaitingDatabase
	case live != nil:
		return f.claim(ctx, s, live)
	}
	return f.findOrMake(ctx, s, served)
}

// findOrMake returns a key Secret that is not in the cache. It creates one if there was
// none before or if the keys are in the secret store.
func (f Family) findOrMake(ctx context.Context, s *pass.Scope, served bool) (*corev1.Secret, bool, error) {
	// Once the other family is restored, the database may turn out to be readable before
	// the store has answered for this one.
	asked, err := f.backup.asked(ctx, s)
	if err != nil {
		return nil, false, err
	}
	if !served && !asked && pass.DatabaseContent.Value(s.Slots).Unreadable == nil {
		return f.createOrClaim(ctx, s)
	}
	live, err := s.Owned.FindUncached(ctx, s.Key(f.name(s.Resource)))
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

func (f Family) claimed(s *pass.Scope, live *corev1.Secret) bool {
	_, copied := live.Data[databaseEntry]
	return !copied && secrets.Claimed(live, service.Irreplaceable(s.Pass, live.Name))
}

// claim adopts an existing Secret if it holds the keys that the Keystone needs. Any other
// Secret may be the only copy of something else.
func (f Family) claim(ctx context.Context, s *pass.Scope, live *corev1.Secret) (*corev1.Secret, bool, error) {
	claimed, err := s.Owned.Claim(ctx, s.Resource, live, unpacked(live), service.Irreplaceable(s.Pass, live.Name),
		func(found *corev1.Secret) error {
			return cmp.Or(f.belongs(s, found), f.usable(s, found), f.readable(s, found))
		})
	return claimed, false, err
}

// belongs rejects a Secret with the keys of another database, which they alone open.
func (f Family) belongs(s *pass.Scope, secret *corev1.Secret) error {
	other := service.OtherDatabase(s.Pass, secret)
	if other == "" {
		return nil
	}
	return missingKeys(
		"secret %s holds the keys of database %s, and the database of this Keystone is %s; use another name for this Keystone, "+
			"or move the Secret to another name, and what the secret store has at %s to another path; "+
			"if these are the keys of both, remove the annotation %s of the Secret",
		secret.Name, other, s.DatabaseIdentity(), f.backup.path(s.Cluster, s.Resource), commonv1.AnnotationDatabase)
}

// usable rejects a Secret that does not hold a set of keys.
func (f Family) usable(s *pass.Scope, secret *corev1.Secret) error {
	err := fernet.ValidateInUse(secret.Data)
	if err == nil {
		return nil
	}
	return missingKeys(
		"secret %s does not hold usable keys: %v; restore it from its backup, by default %s in the secret store",
		secret.Name, err, f.backup.path(s.Cluster, s.Resource))
}

// readable rejects keys that cannot read the credentials in the database.
func (f Family) readable(s *pass.Scope, secret *corev1.Secret) error {
	unreadable := pass.DatabaseContent.Value(s.Slots).Unreadable
	if unreadable == nil || !f.needed {
		return nil
	}
	return missingKeys(
		"the keys in Secret %s cannot read the credentials in database %s: %v; put the keys that encrypted the "+
			"credentials into the Secret, or delete the rows of table credential to accept that they are lost",
		secret.Name, s.Resource.Spec.Database.Database, unreadable)
}

func (f Family) missing(s *pass.Scope) error {
	return missingKeys("secret %s is gone; restore it from its backup, by default %s in the secret store, "+
		"or create it with new keys to accept that %s", f.name(s.Resource), f.backup.path(s.Cluster, s.Resource), f.loss)
}

// createOrClaim creates the Secret with new keys, or claims an existing one that is not
// in the label-limited cache.
func (f Family) createOrClaim(ctx context.Context, s *pass.Scope) (*corev1.Secret, bool, error) {
	desired, taken := f.create(ctx, s, nil)
	if !apierrors.IsAlreadyExists(taken) {
		return desired, true, taken
	}
	live, err := s.Owned.FindUncached(ctx, s.Key(f.name(s.Resource)))
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
func (f Family) restore(ctx context.Context, s *pass.Scope) (*corev1.Secret, bool, error) {
	stored, err := f.backup.stored(ctx, s)
	switch {
	case err != nil:
		return nil, false, err
	case stored == nil && f.needed:
		return nil, false, f.missing(s)
	case stored == nil:
		desired, err := f.create(ctx, s, nil)
		return desired, true, err
	}
	copied := unpacked(&corev1.Secret{Data: stored})
	if other := service.OtherDatabase(s.Pass, copied); other != "" {
		return nil, false, missingKeys("%s", f.backup.otherCopy(s, other))
	}
	desired, err := f.create(ctx, s, copied.Data)
	return desired, false, err
}

// create creates the Secret with the data, or with new keys if data is nil.
func (f Family) create(ctx context.Context, s *pass.Scope, data map[string][]byte) (*corev1.Secret, error) {
	desired, err := f.newSecret(s, data)
	if err != nil {
		return nil, err
	}
	return desired, apply.Create(ctx, s.Client, desired)
}

// newSecret builds the Secret with the data, or with new keys if data is nil.
func (f Family) newSecret(s *pass.Scope, data map[string][]byte) (*corev1.Secret, error) {
	k := s.Resource
	lifetime, _ := f.lifetime(s)
	if data == nil {
		var err error
		if data, err = fernet.Generate(int(fernet.Normalise(f.maxActive(k)))); err != nil {
			return nil, fmt.Errorf("generating keys: %w", err)
		}
	}
	meta := service.Irreplaceable(s.Pass, f.name(k))
	meta.Annotations[annotationKeyHistory] = fernet.NewHistory(data, s.Now(), lifetime).String()
	return &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeOpaque, Data: data}, nil
}

// errAwaitingDatabase reports that it is not known yet which keys the database needs.
var errAwaitingDatabase = reconcile.WaitError(keystonev1alpha1.ReasonGeneratingKeys,
	"no keys are generated until it is known that no credentials in the database need other keys; see the condition DatabaseReady")

// missingKeys reports that keys a Keystone needs are missing.
func missingKeys(format string, arguments ...any) error {
	return reconcile.TerminalError(keystonev1alpha1.ReasonKeysMissing, fmt.Errorf(format, arguments...))
}
