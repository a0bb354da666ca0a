package database

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database/logins"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
)

// find compares the connection of the pods with the one that the spec asks for. It hides
// each URL as soon as it is known, because other tools run even if this fails.
func (d Database) find(ctx context.Context, p *service.Pass) (*Access, error) {
	credentials := CredentialsOf.Value(p.Slots)
	wanted := logins.Login{User: credentials.User, Password: credentials.Password}
	a := &Access{
		pass: p, wanted: wanted, plan: logins.Plan{Next: wanted}, next: connectionURL(p, wanted), secret: credentials.Secret,
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
	// Neither the pods nor the Secrets of an earlier operator have its annotations.
	a.unsigned = deploy.Spec.Template.Annotations[apply.RequestedImage] == ""
	live, err := a.findGiven(ctx, inUse)
	p.Hide(live)
	if live == "" || err != nil {
		return a, err
	}
	// Without the key, assume that pods have the connection that was written last.
	if !certain || a.isHash(inUse, live) {
		a.used, a.mark = live, inUse
	}
	if current, ok := loginOf(live); ok && p.Data.Database.IsManaged() {
		if a.plan, err = a.planLogins(ctx, current, a.hash(live)); err != nil {
			return nil, err
		}
	}
	for _, password := range a.plan.Known {
		p.Hide(string(password))
	}
	a.next = connectionURL(p, a.plan.Next)
	p.Hide(a.next)
	return a, nil
}

// findGiven returns the URL that was last written for pods, "" if it is lost.
func (a *Access) findGiven(ctx context.Context, inUse string) (string, error) {
	secret, err := a.findWritten(ctx, SecretName(a.pass.Resource.GetName()))
	if err != nil {
		return "", err
	}
	if secret == nil {
		return a.recall(ctx, inUse)
	}
	return string(secret.Data[connectionKey]), nil
}

// findWritten returns the Secret, nil if it does not exist or if somebody else has changed
// its data: a login that the operator has not written must reach neither the pods nor the
// server.
func (a *Access) findWritten(ctx context.Context, name string) (*corev1.Secret, error) {
	secret, err := a.pass.Owned.Find(ctx, a.pass.Key(name))
	if secret == nil || err != nil {
		return nil, err
	}
	if secrets.IsWritten(a.pass.Resource, secret) || a.unsigned && !secrets.IsSigned(secret) {
		return secret, nil
	}
	return nil, nil
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

// planLogins collects the inputs of the plan.
func (a *Access) planLogins(ctx context.Context, current logins.Login, hash string) (logins.Plan, error) {
	p := a.pass
	pods, err := deployment.APIPods(ctx, p)
	if err != nil {
		return logins.Plan{}, err
	}
	settled := !slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
		return pod.Annotations[HashAnnotation(p.Definition)] != hash
	})
	remembered, err := a.findWritten(ctx, loginsSecret(p))
	if err != nil || remembered == nil {
		return logins.NewPlan(a.wanted, current, nil, settled), err
	}
	return logins.NewPlan(a.wanted, current, remembered.Data, settled), nil
}

// recall recovers the lost connection of the pods from its hash and the passwords
// remembered for an ongoing change. It returns "" if none of them matches.
func (a *Access) recall(ctx context.Context, hash string) (string, error) {
	remembered, err := a.findWritten(ctx, loginsSecret(a.pass))
	if remembered == nil || err != nil {
		return "", err
	}
	for user, password := range remembered.Data {
		if url := connectionURL(a.pass, logins.Login{User: user, Password: password}); a.isHash(hash, url) {
			return url, nil
		}
	}
	return "", nil
}
