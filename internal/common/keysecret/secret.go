package keysecret

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Maker builds the Secret with the data, or with new keys if data is nil.
type Maker func(data map[string][]byte) (*corev1.Secret, error)

// Ensure returns the Secret, with keys that the service can use, and whether it is new. It is
// only created while nothing can depend on an earlier one.
func (k Keys) Ensure(ctx context.Context, p *service.Pass, build Maker) (secret *corev1.Secret, created bool, err error) {
	secret, created, err = k.find(ctx, p, build)
	if err == nil {
		err = k.usable(p, secret)
	}
	if err == nil {
		err = k.endRequest(ctx, p)
	}
	if err == nil {
		err = k.readable(p, secret)
	}
	if err == nil {
		err = k.tested(p, secret)
	}
	if err == nil {
		k.Trust(p, secret)
	}
	return secret, created, err
}

// find returns the Secret, and whether it is new.
func (k Keys) find(ctx context.Context, p *service.Pass, build Maker) (*corev1.Secret, bool, error) {
	live, err := p.Owned.Find(ctx, p.Key(k.Of(p)))
	if err != nil || live != nil && claimed(p, live) {
		return live, false, err
	}
	// The status may be lost together with the keys, for instance after a restore.
	deploy, err := deployment.Live(ctx, p)
	served := p.Status.InstalledRelease != "" || deploy != nil
	switch {
	case err != nil:
		return nil, false, err
	case !served && !DatabaseContent.Value(p.Slots).Known && (live == nil || k.Needed):
		return nil, false, errAwaitingDatabase
	case live != nil:
		return k.claim(ctx, p, live)
	}
	return k.findOrMake(ctx, p, served, build)
}

// findOrMake returns a key Secret that is not in the cache. It creates one if there was
// none before or if the keys are in the secret store.
func (k Keys) findOrMake(ctx context.Context, p *service.Pass, served bool, build Maker) (*corev1.Secret, bool, error) {
	// Once the other family is restored, the database may turn out to be readable before
	// the store has answered for this one.
	asked, err := k.asked(ctx, p)
	if err != nil {
		return nil, false, err
	}
	if !served && !asked && DatabaseContent.Value(p.Slots).Unreadable == nil {
		return k.createOrClaim(ctx, p, build)
	}
	live, err := p.Owned.FindUncached(ctx, p.Key(k.Of(p)))
	switch {
	case err != nil:
		return nil, false, err
	case live != nil:
		return k.claim(ctx, p, live)
	case served && !asked:
		return nil, false, k.missing(p)
	}
	return k.restore(ctx, p, build)
}

func claimed(p *service.Pass, live *corev1.Secret) bool {
	_, copied := live.Data[databaseEntry]
	return !copied && secrets.Claimed(live, service.Irreplaceable(p, live.Name))
}

// claim adopts an existing Secret if it holds the keys that the service needs. Any other
// Secret may be the only copy of something else.
func (k Keys) claim(ctx context.Context, p *service.Pass, live *corev1.Secret) (*corev1.Secret, bool, error) {
	claimed, err := p.Owned.Claim(ctx, p.Resource, live, unpacked(live), service.Irreplaceable(p, live.Name),
		func(found *corev1.Secret) error {
			return cmp.Or(k.belongs(p, found), k.usable(p, found), k.readable(p, found), k.tested(p, live))
		})
	return claimed, false, err
}

// belongs rejects a Secret with the keys of another database, which they alone open.
func (k Keys) belongs(p *service.Pass, secret *corev1.Secret) error {
	other := service.OtherDatabase(p, secret)
	if other == "" {
		return nil
	}
	return missingKeys(
		"secret %s holds the keys of database %s, and the database of this %s is %s; use another name for this %s, "+
			"or move the Secret to another name, and what the secret store has at %s to another path; "+
			"if these are the keys of both, remove the annotation %s of the Secret",
		secret.Name, other, p.Kind, p.DatabaseIdentity(), p.Kind, k.path(p), commonv1.AnnotationDatabase)
}

// usable rejects a Secret that does not hold a set of keys.
func (k Keys) usable(p *service.Pass, secret *corev1.Secret) error {
	err := k.Validate(secret.Data)
	if err == nil {
		return nil
	}
	return missingKeys(
		"secret %s does not hold usable keys: %v; restore it from its backup, by default %s in the secret store",
		secret.Name, err, k.path(p))
}

// readable rejects keys that cannot read what the database holds.
func (k Keys) readable(p *service.Pass, secret *corev1.Secret) error {
	unreadable := DatabaseContent.Value(p.Slots).Unreadable
	if unreadable == nil || !k.Needed {
		return nil
	}
	return missingKeys(
		"the keys in Secret %s cannot read %s in database %s: %v; put the keys that encrypted them into the Secret, "+
			"or %s to accept that they are lost",
		secret.Name, k.Encrypted, p.Data.Database.Database, unreadable, k.Abandon)
}

func (k Keys) missing(p *service.Pass) error {
	accept := "create it with new keys"
	if k.Needed {
		accept += " and " + strings.TrimSuffix(k.Abandon, ",")
	}
	return missingKeys("secret %s is gone; restore it from its backup, by default %s in the secret store, or %s to accept that %s",
		k.Of(p), k.path(p), accept, k.Loss)
}

// createOrClaim creates the Secret with new keys, or claims an existing one that is not
// in the label-limited cache.
func (k Keys) createOrClaim(ctx context.Context, p *service.Pass, build Maker) (*corev1.Secret, bool, error) {
	desired, taken := create(ctx, p, build, nil)
	if !apierrors.IsAlreadyExists(taken) {
		return desired, true, taken
	}
	live, err := p.Owned.FindUncached(ctx, p.Key(k.Of(p)))
	switch {
	case err != nil:
		return nil, false, err
	case live == nil:
		// It was deleted in between: the next pass finds the name free.
		return nil, false, taken
	}
	return k.claim(ctx, p, live)
}

// restore creates the Secret with the keys from the secret store: the database holds data
// that only they can read, or did when the store was asked.
func (k Keys) restore(ctx context.Context, p *service.Pass, build Maker) (*corev1.Secret, bool, error) {
	stored, err := k.stored(ctx, p)
	switch {
	case err != nil:
		return nil, false, err
	case stored == nil && k.Needed:
		return nil, false, k.missing(p)
	case stored == nil:
		desired, err := create(ctx, p, build, nil)
		return desired, true, err
	}
	copied := unpacked(&corev1.Secret{Data: stored})
	if other := service.OtherDatabase(p, copied); other != "" {
		return nil, false, missingKeys("%s", k.otherCopy(p, other))
	}
	desired, err := create(ctx, p, build, copied.Data)
	return desired, false, err
}

// create creates the Secret with the data, or with new keys if data is nil.
func create(ctx context.Context, p *service.Pass, build Maker, data map[string][]byte) (*corev1.Secret, error) {
	desired, err := build(data)
	if err != nil {
		return nil, err
	}
	return desired, apply.Create(ctx, p.Client, desired)
}

// errAwaitingDatabase reports that it is not known yet which keys the database needs.
var errAwaitingDatabase = reconcile.WaitError(vocabulary.ReasonGeneratingKeys,
	"no keys are generated until it is known that nothing in the database needs other keys; see the condition DatabaseReady")

// missingKeys reports that keys that a service needs are missing.
func missingKeys(format string, arguments ...any) error {
	return reconcile.TerminalError(vocabulary.ReasonKeysMissing, fmt.Errorf(format, arguments...))
}
