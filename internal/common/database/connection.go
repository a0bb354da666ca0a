package database

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// connectionKey is the only key of the connection Secret.
const connectionKey = "connection"

// SecretName is the name of the Secret with the URL of the database of the instance
// with a name.
func SecretName(instance string) string { return instance + "-db-connection" }

func candidateSecret(p *service.Pass) string { return p.Named("db-connection-next") }

func loginsSecret(p *service.Pass) string { return p.Named("db-logins") }

// ReconcileConnection keeps the Secret that hands the database URL to every
// pod. A changed URL goes to a Secret of its own first, from which the database
// Jobs take it: until one of them has succeeded, a pod that starts anew gets
// the URL that works.
func (d Database) ReconcileConnection(ctx context.Context, p *service.Pass) reconcile.Outcome {
	access, err := d.find(ctx, p)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonSecretInvalid, err)
	}
	Connection.Put(p.Slots, access)
	if access.Candidate() {
		candidate := connectionSecret(p, candidateSecret(p), access.next)
		if err := p.Owned.EnsureData(ctx, p.Resource, candidate); err != nil {
			return reconcile.WriteFailed(vocabulary.ReasonSecretInvalid, err)
		}
	}
	if err := access.give(ctx); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonSecretInvalid, err)
	}
	return service.SecretsAvailable()
}

// Promote gives pods the connection that a Job has proven.
func (d Database) Promote(ctx context.Context, p *service.Pass) error {
	access := Connection.Value(p.Slots)
	access.promote()
	return access.give(ctx)
}

// give writes the Secret of the pods, and removes that of the Jobs when there is
// nothing left to prove.
func (a *Access) give(ctx context.Context) error {
	p := a.pass
	given := connectionSecret(p, SecretName(p.Resource.GetName()), a.given())
	if err := p.Owned.EnsureData(ctx, p.Resource, given); err != nil {
		return err
	}
	if a.Candidate() {
		return nil
	}
	return apply.EnsureAbsent(ctx, p.Client, p.Resource, connectionSecret(p, candidateSecret(p), ""))
}

// FindKey finds the key of the hashes again, which may have been made in this pass.
func (d Database) FindKey(ctx context.Context, p *service.Pass) error {
	_, err := d.key(ctx, Connection.Value(p.Slots))
	return err
}

// key finds the key of the hashes, and reports whether it is the one that pods have
// theirs with.
func (d Database) key(ctx context.Context, a *Access) (certain bool, err error) {
	if d.Key == nil {
		// A Secret that is created again has another UID.
		a.key = a.secret
		return false, nil
	}
	key, err := d.Key(ctx, a.pass)
	if err != nil {
		return false, err
	}
	a.key = key
	if key == "" {
		a.key = a.secret
	}
	return key != "", nil
}

// find compares the connection of the pods with the one the spec leads to. It hides
// each URL as soon as it is known: other tools run although this fails.
func (d Database) find(ctx context.Context, p *service.Pass) (*Access, error) {
	credentials := CredentialsOf.Value(p.Slots)
	wanted := login{credentials.User, credentials.Password}
	a := &Access{
		pass: p, wanted: wanted, logins: loginPlan{next: wanted}, next: connectionURL(p, wanted), secret: credentials.Secret,
	}
	p.Hide(a.next)
	certain, err := d.key(ctx, a)
	if err != nil {
		return nil, err
	}
	deploy, err := deployment.Live(ctx, p)
	if deploy == nil || err != nil {
		return a, err
	}
	inUse := deploy.Spec.Template.Annotations[HashAnnotation(p.Definition)]
	live, err := a.findGiven(ctx, inUse)
	p.Hide(live)
	if live == "" || err != nil {
		return a, err
	}
	// Without the key nobody knows better than that pods have what they were given.
	if !certain || a.isHash(inUse, live) {
		a.used, a.mark = live, inUse
	}
	if current, ok := loginOf(live); ok && p.Spec.Database.IsManaged() {
		if a.logins, err = a.planLogins(ctx, current, a.hash(live)); err != nil {
			return nil, err
		}
	}
	for _, password := range a.logins.known {
		p.Hide(string(password))
	}
	a.next = connectionURL(p, a.logins.next)
	p.Hide(a.next)
	return a, nil
}

// findGiven is what pods were given last, "" when that is lost.
func (a *Access) findGiven(ctx context.Context, inUse string) (string, error) {
	secret, err := a.pass.Owned.Find(ctx, a.pass.Key(SecretName(a.pass.Resource.GetName())))
	if err != nil {
		return "", err
	}
	if secret == nil {
		return a.recall(ctx, inUse)
	}
	return string(secret.Data[connectionKey]), nil
}

func connectionSecret(p *service.Pass, name, url string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: p.Meta(name), Type: corev1.SecretTypeOpaque, Data: map[string][]byte{connectionKey: []byte(url)},
	}
}
