package appcredential

import (
	"context"
	"errors"
	"fmt"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// supersede moves an outdated credential out of the way. Like all steps of a replacement,
// it returns an error: there is no current credential yet.
func (m *manager) supersede(ctx context.Context, old *orcv1alpha1.ApplicationCredential) error {
	used, err := m.isInUse(ctx, old)
	if err != nil {
		return err
	}
	if !used {
		return m.discard(ctx, old)
	}
	if korc.StateOf(old).Failed {
		switch rejected, err := m.storedIsRejected(); {
		case errors.Is(err, identity.ErrAsking):
			return m.reMinting("Checking whether Keystone still accepts the credential that the users have", m.replacedSince())
		case rejected:
			return m.discard(ctx, old)
		}
	}
	retained := supersededCredential(m.CP, old)
	since := m.replacedSince()
	wait, err := korc.Ensure(ctx, m.Pass, retained, since)
	if err != nil {
		return err
	}
	if !retained.DeletionTimestamp.IsZero() {
		// While this object is being deleted without the credential, K-ORC may still find
		// the credential: its status is not reliable at this point.
		return m.reMinting("Recreating the object that keeps the replaced credential: "+korc.Describe(retained), since)
	}
	if korc.StateOf(retained).Available && ptr.Deref(retained.Status.ID, "") == *old.Status.ID {
		return m.handOver(ctx, old, retained)
	}
	if rejected, _ := m.storedIsRejected(); rejected {
		// The object is orphaned because Keystone may accept the credential again, for
		// instance if the administrator was only disabled.
		if err := korc.Orphan(ctx, m.Pass, retained); err != nil {
			return err
		}
		return m.discard(ctx, old)
	}
	search, err := m.searchAgain(ctx, retained, since)
	if err != nil {
		return err
	}
	message := fmt.Sprintf("Waiting for %s, which keeps the replaced credential for its users; if this persists, check that "+
		"Keystone accepts the administrator's password in Secret %s", korc.Describe(retained), m.CP.AdminSecretRef().Name)
	return m.reMinting(message, since).Within(wait).Within(search)
}

// handOver orphans the replaced credential to the object that retains it. It asks the API
// server whether that object still exists: if the cache were stale, the credential would
// never be revoked.
func (m *manager) handOver(ctx context.Context, old, retained *orcv1alpha1.ApplicationCredential) error {
	stays, err := apply.Stays(ctx, m.ThirdParty, retained)
	switch {
	case err != nil:
		return err
	case !stays:
		return m.reMinting("Recreating the object that keeps the replaced credential: "+korc.Describe(retained), m.replacedSince()).
			Within(m.RetryPeriod)
	}
	if err := korc.Orphan(ctx, m.Pass, old); err != nil {
		return err
	}
	return m.reMinting("The replaced credential is kept by ApplicationCredential "+retained.Name, m.Now())
}

// searchAgain makes K-ORC search again for the credential that it did not find. When
// Keystone rejects the list request, K-ORC treats that as an empty list, and would then
// wait for a secret forever, even after its access is restored. The result is the requeue
// delay, zero to wait for a watch.
func (m *manager) searchAgain(
	ctx context.Context, retained *orcv1alpha1.ApplicationCredential, since time.Time,
) (time.Duration, error) {
	if retained.Status.ID != nil || korc.StateOf(retained).Message == "" || !retained.DeletionTimestamp.IsZero() {
		return 0, nil
	}
	if wait := pass.RetryAfter(m.Pass, retained.CreationTimestamp.Time, since); wait > 0 {
		return wait, nil
	}
	return m.RetryPeriod, korc.Orphan(ctx, m.Pass, retained)
}

// discard removes a credential that no user needs.
func (m *manager) discard(ctx context.Context, old *orcv1alpha1.ApplicationCredential) error {
	if err := korc.RevokeInKeystone(ctx, m.Pass, old); err != nil {
		return m.reMinting(fmt.Sprintf("Removing %s: %v", korc.Describe(old), err), m.replacedSince()).Within(m.RetryPeriod)
	}
	if err := korc.RemoveWithResource(ctx, m.Pass, old); err != nil {
		return err
	}
	return m.reMinting("Removing "+korc.Describe(old), m.Now())
}
