package database

import (
	"context"
	"fmt"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database/logins"
	"github.com/c5c3/forge/internal/common/database/mariadb"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// EnsureManaged has mariadb-operator create the database, its user and the user's grant,
// and returns an error until they exist. For a database that is not managed, it only makes
// sure that mariadb-operator is not about to drop it.
func (d Database) EnsureManaged(ctx context.Context, p *service.Pass) error {
	ending, err := mariadb.Ending(ctx, p)
	switch {
	case err != nil:
		return reconcile.WithReason(vocabulary.ReasonWaitingForDatabase, err)
	case ending != nil:
		return reconcile.WaitError(vocabulary.ReasonWaitingForDatabase, fmt.Sprintf(
			"Database %s of namespace %s is being deleted, and mariadb-operator drops database %s with it; nothing uses it before that has ended;"+
				" if this persists, look at the conditions of that Database", ending.Name, ending.Namespace, p.Data.Database.Database))
	}
	if !p.Data.Database.IsManaged() {
		return nil
	}
	if !p.Kinds.Served(mariadb.Server) {
		return reconcile.WaitError(vocabulary.ReasonMariaDBNotInstalled,
			"spec.database.clusterRef needs mariadb-operator, which is not installed; install it, or use spec.database.host")
	}
	clusterName := p.Data.Database.ClusterRef.Name
	cluster, err := apply.Find(ctx, p.ThirdParty, p.Key(clusterName), &mariadbv1alpha1.MariaDB{})
	switch {
	case err != nil:
		return reconcile.WithReason(vocabulary.ReasonClusterNotReady, err)
	case cluster == nil:
		return reconcile.WaitError(vocabulary.ReasonClusterNotReady, fmt.Sprintf(
			"MariaDB %s of spec.database.clusterRef does not exist; create it", clusterName))
	case !mariadb.Serves(cluster):
		return reconcile.WaitError(vocabulary.ReasonClusterNotReady, fmt.Sprintf(
			"MariaDB %s is not ready; look at its conditions", clusterName))
	}
	shared, err := service.SharesData(ctx, p)
	if err != nil {
		return err
	}
	object, created, err := mariadb.EnsureDatabase(ctx, p, shared)
	if err != nil {
		return err
	}
	access := Connection.Value(p.Slots)
	access.object = object
	granted, err := access.ensureUsers(ctx)
	if err != nil {
		return err
	}
	if !object.DeletionTimestamp.IsZero() {
		return reconcile.WaitError(vocabulary.ReasonWaitingForDatabase, fmt.Sprintf(
			"Database %s is being deleted, and the data with it unless its cleanupPolicy is Skip; it is created again, empty, when it is gone",
			object.Name))
	}
	if !created || !granted {
		return reconcile.WaitError(vocabulary.ReasonWaitingForDatabase, fmt.Sprintf(
			"mariadb-operator is creating Database, User and Grant %s; if this persists, look at their conditions", p.Resource.GetName()))
	}
	return nil
}

// ensureUsers ensures the user of the pods and, while its password changes, the standby
// user. mariadb-operator reads a user's password every half a minute. Before it may read
// a new one, the passwords that pods still use are copied and the user refers to the
// copy.
func (a *Access) ensureUsers(ctx context.Context) (bool, error) {
	p := a.pass
	remembered := signed(p, loginsSecret(p), a.plan.Known)
	changing := a.plan.Changing(a.wanted)
	if changing {
		if err := p.Owned.EnsureData(ctx, p.Resource, remembered); err != nil {
			return false, err
		}
	}
	granted, err := a.ensureUser(ctx, a.wanted.User)
	if err != nil {
		return false, err
	}
	standby := logins.Standby(a.wanted.User)
	if a.plan.Uses(standby) {
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
	pinned := ""
	if a.plan.Pinned(name, a.wanted.Password) {
		pinned = loginsSecret(a.pass)
	}
	return mariadb.EnsureUser(ctx, a.pass, name, pinned)
}
