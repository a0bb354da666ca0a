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
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
)

// databasePeriod is how often a deletion looks whether the database is gone.
// Nothing else needs a watch on the kind.
const databasePeriod = 2 * time.Second

// finalize has the database of the service dropped while its server still runs. The
// volume outlives the server: what is in it would be found by the next control
// plane of the name, whose Keystone has no keys for it.
func (svc service) finalize(ctx context.Context, s *scope) reconcile.Outcome {
	goes, err := svc.databaseGoes(ctx, s)
	if err != nil {
		return reconcile.Failed(svc.reasons.finalizing, err)
	}
	done := reconcile.Done(svc.reasons.finalizing, svc.kind.Kind+"'s database is released")
	if !goes {
		return done
	}
	waiting, since, err := svc.remove(ctx, s)
	switch {
	case err != nil:
		return reconcile.Failed(svc.reasons.finalizing, err)
	case waiting == "":
		return done
	case s.now().Sub(since) >= s.stallTimeout:
		return done.WithEvent(corev1.EventTypeWarning, svc.stalled, fmt.Sprintf(
			"%s is still there after %s: the database may stay on the volume of the MariaDB", waiting, s.stallTimeout))
	}
	return reconcile.Waiting(svc.reasons.finalizing, fmt.Sprintf(
		"Waiting until %s is gone, before the MariaDB goes; after %s the deletion continues without that", waiting, s.stallTimeout)).
		After(min(databasePeriod, s.stallTimeout/8))
}

// databaseGoes reports whether the service's database is to be dropped from a server
// that goes, too, and still runs.
func (svc service) databaseGoes(ctx context.Context, s *scope) (bool, error) {
	cp := s.cp.DeepCopy()
	c5c3v1alpha1.SetDefaults(cp)
	ref := cp.Spec.Infrastructure.Database.ClusterRef
	if ref == nil || cp.Spec.DeletionPolicy == commonv1.DeletionPolicyRetain ||
		!s.kinds.Served(infraapi.MariaDBKind) || !s.kinds.Served(svc.kind) {
		return false, nil
	}
	server := &infraapi.MariaDB{}
	err := s.foreign.Get(ctx, s.key(ref.Name), server)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading MariaDB %s: %w", ref.Name, err)
	}
	return err == nil && server.DeletionTimestamp.IsZero() && metav1.IsControlledBy(server, s.cp), nil
}

// remove deletes the resource of the service and describes what of it is left, "" when
// that is nothing, and since when that is being deleted.
func (svc service) remove(ctx context.Context, s *scope) (left string, since time.Time, err error) {
	child := svc.empty()
	err = s.foreign.Get(ctx, s.key(svc.childName(s.cp)), child)
	switch {
	case apierrors.IsNotFound(err):
		return svc.database(ctx, s)
	case err != nil:
		return "", since, fmt.Errorf("reading %s %s: %w", svc.kind.Kind, svc.childName(s.cp), err)
	case !metav1.IsControlledBy(child, s.cp):
		return "", since, nil
	}
	return svc.kind.Kind + " " + child.GetName(), s.deletedAt(child), s.removeOnce(ctx, child)
}

// database describes the Database of a resource that is gone. The resource has asked
// for its removal and does not wait for that.
func (svc service) database(ctx context.Context, s *scope) (left string, since time.Time, err error) {
	name, database := svc.childName(s.cp), &metav1.PartialObjectMetadata{}
	database.SetGroupVersionKind(infraapi.DatabaseKind)
	err = s.owned.Live.Get(ctx, s.key(name), database)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return "", since, nil
	case err != nil:
		return "", since, fmt.Errorf("reading Database %s: %w", name, err)
	}
	if owner := metav1.GetControllerOf(database); owner == nil || owner.Kind != svc.kind.Kind || owner.Name != name {
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
