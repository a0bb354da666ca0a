package database

import (
	"context"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database/logins"
	"github.com/c5c3/forge/internal/common/database/mariadb"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Finalize asks mariadb-operator to drop what the instance had in the MariaDB, unless that
// is to stay. It does not wait for that: the API pods still hold connections until garbage
// collection ends them, and DROP DATABASE waits for those.
func Finalize(ctx context.Context, p *service.Pass) reconcile.Outcome {
	dropped := 0
	if p.Data.Database.IsManaged() && p.Kinds.Served(mariadb.Server) {
		keep, err := KeepsData(ctx, p)
		if err != nil {
			return reconcile.Failed(vocabulary.ReasonWaitingForDatabase, err)
		}
		for _, obj := range databaseReferences(p) {
			found, err := drop(ctx, p, obj, keep)
			if err != nil {
				return reconcile.Failed(vocabulary.ReasonWaitingForDatabase, err)
			}
			if found && !keep {
				dropped++
			}
		}
	}
	done := reconcile.Done(vocabulary.ReasonDeleting, "The database is released")
	if dropped > 0 {
		done = done.WithNormalEvent(vocabulary.EventFinalizingDatabase, "Removing the database and its user from the MariaDB")
	}
	return done.WithNormalEvent(vocabulary.EventDatabaseFinalized, "The database is released")
}

// KeepsData reports whether the database outlives the resource. It does if the spec asks
// for it, if the server is gone or going (its volume may still hold the data), or if
// another resource keeps data in the same database.
func KeepsData(ctx context.Context, p *service.Pass) (bool, error) {
	if p.Data.KeepsData() {
		return true, nil
	}
	if serves, err := databaseServes(ctx, p); err != nil || !serves {
		return err == nil, err
	}
	return service.SharesData(ctx, p)
}

// databaseServes reports whether the MariaDB exists and is not being deleted. It asks the
// API server because an instance and its MariaDB are often deleted at the same moment.
func databaseServes(ctx context.Context, p *service.Pass) (bool, error) {
	if !p.Kinds.Served(mariadb.Server) {
		return false, nil
	}
	server := &metav1.PartialObjectMetadata{}
	server.SetGroupVersionKind(mariadb.Server)
	server, err := apply.Find(ctx, p.APIReader, p.Key(p.Data.Database.ClusterRef.Name), server)
	return server != nil && server.DeletionTimestamp.IsZero(), err
}

// drop deletes the object if the resource controls it, and reports whether it existed. If
// keep is set, its counterpart in the MariaDB is orphaned.
func drop(ctx context.Context, p *service.Pass, obj client.Object, keep bool) (bool, error) {
	live, err := apply.Find(ctx, p.ThirdParty, client.ObjectKeyFromObject(obj), obj)
	if err != nil || live == nil || !service.ControlledBy(live, p.Resource) {
		return false, err
	}
	if keep {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"cleanupPolicy":"Skip"}}`))
		err := apply.Patch(ctx, p.ThirdParty, live, patch, "keeping what is in the MariaDB for")
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
	}
	return true, apply.Delete(ctx, p.ThirdParty, live)
}

// Spare keeps the database of a resource that does not have it, because another one does,
// from being dropped with it. With foreground deletion garbage collection would be faster
// than the finalizer.
func Spare(ctx context.Context, p *service.Pass) error {
	if !p.Data.Database.IsManaged() || !p.Kinds.Served(mariadb.Server) {
		return nil
	}
	live, err := apply.Find(ctx, p.ThirdParty, p.Key(p.Resource.GetName()), &mariadbv1alpha1.Database{})
	if err != nil || live == nil || !service.ControlledBy(live, p.Resource) || !live.DeletionTimestamp.IsZero() {
		return err
	}
	_, _, err = mariadb.EnsureDatabase(ctx, p, true)
	return err
}

// databaseReferences returns the objects that the finalizer removes from the MariaDB.
func databaseReferences(p *service.Pass) []client.Object {
	standby := logins.Standby(p.Resource.GetName())
	return []client.Object{
		&mariadbv1alpha1.Grant{ObjectMeta: p.Meta(standby)},
		&mariadbv1alpha1.User{ObjectMeta: p.Meta(standby)},
		&mariadbv1alpha1.Grant{ObjectMeta: p.Meta(p.Resource.GetName())},
		&mariadbv1alpha1.User{ObjectMeta: p.Meta(p.Resource.GetName())},
		&mariadbv1alpha1.Database{ObjectMeta: p.Meta(p.Resource.GetName())},
	}
}
