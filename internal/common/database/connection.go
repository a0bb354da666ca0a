package database

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

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

func connectionSecret(p *service.Pass, name, url string) *corev1.Secret {
	return signed(p, name, map[string][]byte{connectionKey: []byte(url)})
}

// signed returns a Secret that is recognised later as written by the operator.
func signed(p *service.Pass, name string, data map[string][]byte) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: p.Meta(name), Type: corev1.SecretTypeOpaque, Data: data}
	secrets.Sign(p.Resource, secret)
	return secret
}
