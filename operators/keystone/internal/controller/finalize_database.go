package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// databaseFinalizer stands for the database and its user in a MariaDB.
const databaseFinalizer = "keystone.openstack.c5c3.io/finalizer"

// referenced is a named object together with its kind for messages.
type referenced struct {
	kind string
	obj  client.Object
}

// finalizeDatabase asks mariadb-operator to drop what Keystone had in the
// MariaDB, unless that is to stay. It does not wait for
// that: the API pods still hold connections until garbage collection ends them,
// and DROP DATABASE waits for those.
func finalizeDatabase(ctx context.Context, s *scope) reconcile.Outcome {
	dropped := 0
	if s.keystone.Spec.Database.IsManaged() && s.Kinds.Served(mariaDBGVK) {
		keep, err := s.keepsData(ctx)
		if err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonWaitingForDatabase, err)
		}
		for _, reference := range databaseReferences(s.keystone) {
			found, err := s.drop(ctx, reference, keep)
			if err != nil {
				return reconcile.Failed(keystonev1alpha1.ReasonWaitingForDatabase, err)
			}
			if found && !keep {
				dropped++
			}
		}
	}
	done := reconcile.Done(keystonev1alpha1.ReasonDeleting, "The database is released")
	if dropped > 0 {
		done = done.WithNormalEvent(keystonev1alpha1.EventFinalizingDatabase, "Removing the database and its user from the MariaDB")
	}
	return done.WithNormalEvent(keystonev1alpha1.EventDatabaseFinalized, "The database is released")
}

// keepsData reports whether the database outlives the Keystone: because that was
// asked for, because there is no server left that could drop it, whose volume may
// still hold it, or because another Keystone keeps data in it, too.
func (s *scope) keepsData(ctx context.Context) (bool, error) {
	if s.keystone.ServiceSpec().KeepsData() {
		return true, nil
	}
	if serves, err := s.databaseServes(ctx); err != nil || !serves {
		return err == nil, err
	}
	return s.shared(ctx)
}

// databaseServes reports whether the MariaDB is there to stay. The API server is
// asked: what deletes a Keystone often deletes its MariaDB in the same moment.
func (s *scope) databaseServes(ctx context.Context) (bool, error) {
	if !s.Kinds.Served(mariaDBGVK) {
		return false, nil
	}
	server := &metav1.PartialObjectMetadata{}
	server.SetGroupVersionKind(mariaDBGVK)
	err := s.APIReader.Get(ctx, s.Key(s.keystone.Spec.Database.ClusterRef.Name), server)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading MariaDB %s: %w", s.keystone.Spec.Database.ClusterRef.Name, err)
	}
	return err == nil && server.DeletionTimestamp.IsZero(), nil
}

// drop deletes the object when the Keystone controls it and reports whether it
// was there. What it stands for stays in the MariaDB when keep is set.
func (s *scope) drop(ctx context.Context, reference referenced, keep bool) (bool, error) {
	key := client.ObjectKeyFromObject(reference.obj)
	err := s.ThirdParty.Get(ctx, key, reference.obj)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %s %s: %w", reference.kind, key.Name, err)
	}
	if !controlledBy(reference.obj, s.keystone) {
		return false, nil
	}
	if keep {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"cleanupPolicy":"Skip"}}`))
		if err := s.ThirdParty.Patch(ctx, reference.obj, patch); client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("keeping what %s %s stands for: %w", reference.kind, key.Name, err)
		}
	}
	uid := reference.obj.GetUID()
	if err := s.ThirdParty.Delete(ctx, reference.obj, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("deleting %s %s: %w", reference.kind, key.Name, err)
	}
	return true, nil
}
