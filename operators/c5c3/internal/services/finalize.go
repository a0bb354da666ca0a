package services

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// databasePeriod is the interval of checking whether the database is gone. It is polled
// because nothing else needs a watch on the kind.
const databasePeriod = 2 * time.Second

// finalize has the service's database dropped while its server is still running. The
// volume outlives the server, so the next control plane of the name would find the
// content, and its Keystone has no keys for it.
func (svc Service) finalize(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	goes, err := svc.databaseGoes(ctx, s)
	if err == nil && !svc.wanted(s.CP) && s.Kinds.Served(svc.Kind) {
		_, err = svc.settlePolicy(ctx, s)
		goes = goes && svc.mayBeDeleted(s.CP)
	}
	if err != nil {
		return reconcile.Failed(svc.reasons.finalizing, err)
	}
	done := reconcile.Done(svc.reasons.finalizing, svc.Kind.Kind+"'s database is released")
	if !goes {
		return done
	}
	waiting, since, err := svc.remove(ctx, s)
	switch {
	case err != nil:
		return reconcile.Failed(svc.reasons.finalizing, err)
	case waiting == "":
		return done
	case s.Now().Sub(since) >= s.StallTimeout:
		return done.WithEvent(corev1.EventTypeWarning, svc.Database.stalled, fmt.Sprintf(
			"%s still exists after %s: the database may stay on the volume of the MariaDB", waiting, s.StallTimeout))
	}
	return reconcile.Waiting(svc.reasons.finalizing, fmt.Sprintf(
		"Waiting until %s is gone, before the MariaDB is deleted; after %s the deletion continues regardless", waiting, s.StallTimeout)).
		After(min(databasePeriod, s.StallTimeout/8))
}

// databaseGoes reports whether the service's database must be dropped: its server is
// running and will be deleted with the control plane.
func (svc Service) databaseGoes(ctx context.Context, s *pass.Pass) (bool, error) {
	cp := s.CP.DeepCopy()
	c5c3v1alpha1.SetDefaults(cp)
	ref := cp.Spec.Infrastructure.Database.ClusterRef
	if ref == nil || cp.Spec.DeletionPolicy == commonv1.DeletionPolicyRetain || !s.Kinds.Served(svc.Kind) {
		return false, nil
	}
	server, err := pass.MariaDB(ctx, s, ref.Name)
	return server != nil && metav1.IsControlledBy(server, s.CP), err
}

// remove deletes the resource of the service. It describes what is still left, "" for
// nothing, and returns since when that is being deleted.
func (svc Service) remove(ctx context.Context, s *pass.Pass) (left string, since time.Time, err error) {
	child, err := apply.Find(ctx, s.ThirdParty, pass.Key(s, svc.childName(s.CP)), svc.Empty())
	switch {
	case err != nil:
		return "", since, err
	case child == nil:
		return svc.databaseLeft(ctx, s)
	case !metav1.IsControlledBy(child, s.CP):
		return "", since, nil
	}
	return svc.Kind.Kind + " " + child.GetName(), deletedAt(s, child), korc.RemoveOnce(ctx, s, child)
}

// databaseLeft describes the Database of a resource that is gone. The resource has deleted
// its Database without waiting.
func (svc Service) databaseLeft(ctx context.Context, s *pass.Pass) (left string, since time.Time, err error) {
	name, database := svc.childName(s.CP), &metav1.PartialObjectMetadata{}
	database.SetGroupVersionKind(infraapi.DatabaseKind)
	err = s.APIReader.Get(ctx, pass.Key(s, name), database)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return "", since, nil
	case err != nil:
		return "", since, fmt.Errorf("reading Database %s: %w", name, err)
	}
	if owner := metav1.GetControllerOf(database); owner == nil || owner.Kind != svc.Kind.Kind || owner.Name != name {
		return "", since, nil
	}
	return "Database " + database.Name, deletedAt(s, database), nil
}

// deletedAt returns when the deletion of an object began, or now if it has not.
func deletedAt(s *pass.Pass, obj client.Object) time.Time {
	if at := obj.GetDeletionTimestamp(); at != nil {
		return at.Time
	}
	return s.Now()
}
