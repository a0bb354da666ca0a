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

// SecretName returns the name of the Secret with the database URL of the instance.
func SecretName(instance string) string { return instance + "-db-connection" }

func candidateSecret(p *service.Pass) string { return p.Named("db-connection-next") }

func loginsSecret(p *service.Pass) string { return p.Named("db-logins") }

// ReconcileConnection keeps the Secret that gives every pod the database URL. A changed
// URL is first written to a separate Secret that only the database Jobs use. Until one of
// them succeeds, new pods keep getting the URL that works.
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

// Promote gives pods the connection that a Job has verified.
func (d Database) Promote(ctx context.Context, p *service.Pass) error {
	access := Connection.Value(p.Slots)
	access.promote()
	return access.give(ctx)
}

// give writes the pods' Secret, and removes the Jobs' Secret when nothing is left to
// verify.
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

// FindKey looks up the key of the hashes again because it may have been created in this
// pass.
func (d Database) FindKey(ctx context.Context, p *service.Pass) error {
	_, err := d.key(ctx, Connection.Value(p.Slots))
	return err
}

// key looks up the key of the hashes, and reports whether the hashes of the pods were
// made with it.
func (d Database) key(ctx context.Context, a *Access) (certain bool, err error) {
	if d.Key == nil {
		// A recreated Secret has another UID.
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

// find compares the connection of the pods with the one that the spec asks for. It hides
// each URL as soon as it is known, because other tools run even if this fails.
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
	// Without the key, assume that pods have the connection that was written last.
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

// findGiven returns the URL that was last written for pods, "" if it is lost.
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
