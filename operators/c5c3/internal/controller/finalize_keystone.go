package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/backing"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// keystoneFinalizer stands for Keystone's database in a MariaDB that goes with
// the control plane.
const keystoneFinalizer = "c5c3.io/keystone-teardown"

// databasePeriod is how often a deletion looks whether the database is gone.
// Nothing else needs a watch on the kind.
const databasePeriod = 2 * time.Second

// finalizeKeystone has the database dropped while its server still runs. The
// volume outlives the server: what is in it would be found by the next control
// plane of the name, whose Keystone has no keys for it.
func finalizeKeystone(ctx context.Context, s *scope) reconcile.Outcome {
	goes, err := s.databaseGoes(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingKeystone, err)
	}
	done := reconcile.Done(c5c3v1alpha1.ReasonFinalizingKeystone, "Keystone's database is released")
	if !goes {
		return done
	}
	waiting, since, err := s.removeKeystone(ctx)
	switch {
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingKeystone, err)
	case waiting == "":
		return done
	case s.now().Sub(since) >= s.stallTimeout:
		return done.WithEvent(corev1.EventTypeWarning, c5c3v1alpha1.EventKeystoneTeardownStalled, fmt.Sprintf(
			"%s is still there after %s: the database may stay on the volume of the MariaDB", waiting, s.stallTimeout))
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonFinalizingKeystone, fmt.Sprintf(
		"Waiting until %s is gone, before the MariaDB goes; after %s the deletion continues without that", waiting, s.stallTimeout)).
		After(min(databasePeriod, s.stallTimeout/8))
}

// databaseGoes reports whether Keystone's database is to be dropped from a server
// that goes, too, and still runs.
func (s *scope) databaseGoes(ctx context.Context) (bool, error) {
	cp := s.cp.DeepCopy()
	c5c3v1alpha1.SetDefaults(cp)
	ref := cp.Spec.Infrastructure.Database.ClusterRef
	if ref == nil || cp.Spec.DeletionPolicy == commonv1.DeletionPolicyRetain ||
		!s.kinds.Served(backing.MariaDBKind) || !s.kinds.Served(keystoneKind) {
		return false, nil
	}
	server := &backing.MariaDB{}
	err := s.foreign.Get(ctx, s.key(ref.Name), server)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading MariaDB %s: %w", ref.Name, err)
	}
	return err == nil && server.DeletionTimestamp.IsZero() && metav1.IsControlledBy(server, s.cp), nil
}

// removeKeystone deletes the Keystone and describes what of it is left, "" when
// that is nothing, and since when that is being deleted.
func (s *scope) removeKeystone(ctx context.Context) (left string, since time.Time, err error) {
	keystone := &keystonev1alpha1.Keystone{}
	err = s.foreign.Get(ctx, s.key(s.cp.KeystoneName()), keystone)
	switch {
	case apierrors.IsNotFound(err):
		return s.keystoneDatabase(ctx)
	case err != nil:
		return "", since, fmt.Errorf("reading Keystone %s: %w", s.cp.KeystoneName(), err)
	case !metav1.IsControlledBy(keystone, s.cp):
		return "", since, nil
	}
	return "Keystone " + keystone.Name, s.deletedAt(keystone), s.removeOnce(ctx, keystone)
}

// keystoneDatabase describes the Database of a Keystone that is gone. The
// Keystone has asked for its removal and does not wait for that.
func (s *scope) keystoneDatabase(ctx context.Context) (left string, since time.Time, err error) {
	database := &metav1.PartialObjectMetadata{}
	database.SetGroupVersionKind(backing.DatabaseKind)
	err = s.owned.Live.Get(ctx, s.key(s.cp.KeystoneName()), database)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return "", since, nil
	case err != nil:
		return "", since, fmt.Errorf("reading Database %s: %w", s.cp.KeystoneName(), err)
	}
	if owner := metav1.GetControllerOf(database); owner == nil || owner.Kind != keystoneKind.Kind || owner.Name != s.cp.KeystoneName() {
		return "", since, nil
	}
	return "Database " + database.Name, s.deletedAt(database), nil
}

// deletedAt is when the deletion of an object began, now unless it has.
func (s *scope) deletedAt(obj client.Object) time.Time {
	if at := obj.GetDeletionTimestamp(); at != nil {
		return at.Time
	}
	return s.now()
}
