package database

import (
	"context"
	"fmt"
	"slices"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

var mariaDBGVK = mariadbv1alpha1.GroupVersion.WithKind("MariaDB")

// EnsureManaged has mariadb-operator create the database, its user and the user's grant,
// and returns an error until they exist. It has nothing to do for a database that is not
// managed.
func (d Database) EnsureManaged(ctx context.Context, p *service.Pass) error {
	if !p.Spec.Database.IsManaged() {
		return nil
	}
	if !p.Kinds.Served(mariaDBGVK) {
		return reconcile.WaitError(vocabulary.ReasonMariaDBNotInstalled,
			"spec.database.clusterRef needs mariadb-operator, which is not installed; install it, or use spec.database.host")
	}
	clusterName := p.Spec.Database.ClusterRef.Name
	cluster := &mariadbv1alpha1.MariaDB{}
	err := p.ThirdParty.Get(ctx, p.Key(clusterName), cluster)
	switch {
	case apierrors.IsNotFound(err):
		return reconcile.WaitError(vocabulary.ReasonClusterNotReady, fmt.Sprintf(
			"MariaDB %s of spec.database.clusterRef does not exist; create it", clusterName))
	case err != nil:
		return reconcile.WithReason(vocabulary.ReasonClusterNotReady, fmt.Errorf("reading MariaDB %s: %w", clusterName, err))
	case !IsClusterReady(cluster):
		return reconcile.WaitError(vocabulary.ReasonClusterNotReady, fmt.Sprintf(
			"MariaDB %s is not ready; look at its conditions", clusterName))
	}
	created, err := EnsureDatabase(ctx, p.ThirdParty, p.Scheme, p.Resource, MariaDatabase(p))
	if err != nil {
		return err
	}
	granted, err := Connection.Value(p.Slots).ensureUsers(ctx)
	if err != nil {
		return err
	}
	if !created || !granted {
		return reconcile.WaitError(vocabulary.ReasonWaitingForDatabase, fmt.Sprintf(
			"mariadb-operator is creating Database, User and Grant %s; if this persists, look at their conditions", p.Resource.GetName()))
	}
	return nil
}

// planLogins collects the inputs of the plan.
func (a *Access) planLogins(ctx context.Context, current login, hash string) (loginPlan, error) {
	p := a.pass
	pods, err := deployment.APIPods(ctx, p)
	if err != nil {
		return loginPlan{}, err
	}
	settled := !slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
		return pod.Annotations[HashAnnotation(p.Definition)] != hash
	})
	remembered, err := p.Owned.Find(ctx, p.Key(loginsSecret(p)))
	if err != nil || remembered == nil {
		return planLogins(a.wanted, current, nil, settled), err
	}
	return planLogins(a.wanted, current, remembered.Data, settled), nil
}

// recall recovers the lost connection of the pods from its hash and the passwords
// remembered for an ongoing change. It returns "" if none of them matches.
func (a *Access) recall(ctx context.Context, hash string) (string, error) {
	remembered, err := a.pass.Owned.Find(ctx, a.pass.Key(loginsSecret(a.pass)))
	if remembered == nil || err != nil {
		return "", err
	}
	for user, password := range remembered.Data {
		if url := connectionURL(a.pass, login{user, password}); a.isHash(hash, url) {
			return url, nil
		}
	}
	return "", nil
}

// ensureUsers ensures the user of the pods and, while its password changes, the standby
// user. mariadb-operator reads a user's password every half a minute. Before it may read
// a new one, the passwords that pods still use are copied and the user refers to the
// copy.
func (a *Access) ensureUsers(ctx context.Context) (bool, error) {
	p := a.pass
	remembered := &corev1.Secret{ObjectMeta: p.Meta(loginsSecret(p)), Type: corev1.SecretTypeOpaque, Data: a.logins.known}
	changing := a.logins.changing(a.wanted)
	if changing {
		if err := p.Owned.EnsureData(ctx, p.Resource, remembered); err != nil {
			return false, err
		}
	}
	granted, err := a.ensureUser(ctx, a.wanted.user)
	if err != nil {
		return false, err
	}
	standby := a.wanted.user + standbySuffix
	if a.logins.uses(standby) {
		ready, err := a.ensureUser(ctx, standby)
		return granted && ready, err
	}
	for _, unused := range []client.Object{
		&mariadbv1alpha1.Grant{ObjectMeta: p.Meta(standby)}, &mariadbv1alpha1.User{ObjectMeta: p.Meta(standby)},
	} {
		if err := apply.EnsureAbsent(ctx, p.ThirdParty, p.Resource, unused); err != nil {
			return false, err
		}
	}
	if changing {
		return granted, nil
	}
	return granted, apply.EnsureAbsent(ctx, p.Client, p.Resource, remembered)
}

func (a *Access) ensureUser(ctx context.Context, name string) (bool, error) {
	p := a.pass
	return EnsureDatabaseUser(ctx, p.ThirdParty, p.Scheme, p.Resource,
		MariaUser(p, name, a.logins.pinned(name, a.wanted.password)), MariaGrant(p, name))
}
