package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// supersede moves an outdated credential out of the way.
func (s *scope) supersede(ctx context.Context, old *orcv1alpha1.ApplicationCredential) reconcile.Outcome {
	used, err := s.isInUse(ctx, old)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	if !used {
		return s.discard(ctx, old)
	}
	if stateOf(old).failed {
		switch rejected, err := s.storedIsRejected(); {
		case errors.Is(err, errAsking):
			return s.reMinting("Keystone is being asked whether it still accepts the credential that the users have", s.replacedSince())
		case rejected:
			return s.discard(ctx, old)
		}
	}
	retained := supersededCredential(s.cp, old)
	since := s.replacedSince()
	wait, err := s.ensureORC(ctx, retained, since)
	if err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	s.lookAgain(wait)
	if !retained.DeletionTimestamp.IsZero() {
		// K-ORC may find the credential while the object that was to find it goes
		// without it: its status is not reliable at this point.
		return s.reMinting("Recreating the object that keeps the replaced credential: "+describe(retained), since)
	}
	if stateOf(retained).available && ptr.Deref(retained.Status.ID, "") == *old.Status.ID {
		return s.handOver(ctx, old, retained)
	}
	if rejected, _ := s.storedIsRejected(); rejected {
		// Keystone may take it again, when the administrator was only disabled.
		if err := s.orphan(ctx, retained); err != nil {
			return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
		}
		return s.discard(ctx, old)
	}
	if err := s.searchAgain(ctx, retained, since); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	message := fmt.Sprintf("Waiting for %s, which keeps the replaced credential for its users; if this persists, check that "+
		"Keystone accepts the administrator's password in Secret %s", describe(retained), s.cp.AdminSecretRef().Name)
	return s.reMinting(message, since)
}

// handOver leaves the replaced credential to the object that keeps it. Nobody would
// revoke the credential if the cache showed an object that has gone meanwhile.
func (s *scope) handOver(ctx context.Context, old, retained *orcv1alpha1.ApplicationCredential) reconcile.Outcome {
	stays, err := apply.Stays(ctx, s.foreign, retained)
	switch {
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	case !stays:
		s.lookAgain(s.retryPeriod)
		return s.reMinting("Recreating the object that keeps the replaced credential: "+describe(retained), s.replacedSince())
	}
	if err := s.orphan(ctx, old); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	return s.reMinting("The replaced credential is kept by ApplicationCredential "+retained.Name, s.now())
}

// searchAgain has K-ORC look once more for the credential that it did not find.
// It takes a list that Keystone refuses for an empty one, and would then wait for
// a secret for ever, whatever becomes of its access.
func (s *scope) searchAgain(ctx context.Context, retained *orcv1alpha1.ApplicationCredential, since time.Time) error {
	if retained.Status.ID != nil || stateOf(retained).message == "" || !retained.DeletionTimestamp.IsZero() {
		return nil
	}
	if wait := s.retryAfter(retained.CreationTimestamp.Time, since); wait > 0 {
		s.lookAgain(wait)
		return nil
	}
	s.lookAgain(s.retryPeriod)
	return s.orphan(ctx, retained)
}

// discard removes a credential of which there is nothing to keep for its users.
func (s *scope) discard(ctx context.Context, old *orcv1alpha1.ApplicationCredential) reconcile.Outcome {
	if err := s.revokeInKeystone(ctx, old); err != nil {
		s.lookAgain(s.retryPeriod)
		return s.reMinting(fmt.Sprintf("Removing %s: %v", describe(old), err), s.replacedSince())
	}
	if err := s.removeWithResource(ctx, old); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	return s.reMinting("Removing "+describe(old), s.now())
}
