package appcredential

import (
	"context"
	"errors"
	"fmt"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// How a credential is replaced. The name of a credential in Keystone is derived from its
// secret. A new secret in the Secret therefore requires a credential with another name,
// and the object with the old name is recognised as outdated in any pass and after any
// crash. First another object adopts the old credential, and the outdated object is
// deleted without it. Then the object is created again and K-ORC creates the new
// credential. The users keep the old one until they have the new one; only then is it
// revoked.

// replacement replaces the application credential.
type replacement struct{ *secret }

// replace starts a replacement with a single write: a new secret. The clouds.yaml in the
// same Secret remains that of the old credential.
func (r *replacement) replace(ctx context.Context, live *orcv1alpha1.ApplicationCredential, why string) error {
	if request := live.Annotations[c5c3v1alpha1.AnnotationRotationRequest]; request != "" {
		metav1.SetMetaDataAnnotation(&r.secret.object.ObjectMeta, c5c3v1alpha1.AnnotationRotationRequest, request)
	}
	metav1.SetMetaDataAnnotation(&r.secret.object.ObjectMeta, c5c3v1alpha1.AnnotationReplacedSince, r.Now().UTC().Format(time.RFC3339))
	r.secret.object.Data = map[string][]byte{keyValue: identity.NewSecret(), clouds.Key: r.secret.object.Data[clouds.Key]}
	if err := apply.Update(ctx, r.Client, r.secret.object, "storing a new secret for the application credential in"); err != nil {
		return reconcile.WithReason(c5c3v1alpha1.ReasonSecretError, err)
	}
	return r.waiting("A new application credential is being created because "+why, r.Now())
}

// awaitRemoval waits until the object of the replaced credential is gone.
func (r *replacement) awaitRemoval(ctx context.Context, old *orcv1alpha1.ApplicationCredential) error {
	if err := korc.PrepareRemoval(ctx, r.Pass, old); err != nil {
		return err
	}
	return r.waiting("The object of the replaced credential is being deleted: "+korc.Describe(old), old.DeletionTimestamp.Time)
}

// supersede moves an outdated credential out of the way. Like all steps of a replacement,
// it returns an error: there is no current credential yet.
func (r *replacement) supersede(ctx context.Context, old *orcv1alpha1.ApplicationCredential) error {
	used, err := r.isInUse(ctx, old)
	if err != nil {
		return err
	}
	if !used {
		return r.discard(ctx, old)
	}
	if korc.StateOf(old).Failed {
		switch rejected, err := r.secret.storedIsRejected(); {
		case errors.Is(err, identity.ErrAsking):
			return r.waiting("Checking whether Keystone still accepts the credential that the users have", r.replacedSince())
		case rejected:
			return r.discard(ctx, old)
		}
	}
	retained := supersededCredential(r.CP, old)
	since := r.replacedSince()
	wait, err := korc.Ensure(ctx, r.Pass, retained, since)
	if err != nil {
		return err
	}
	if !retained.DeletionTimestamp.IsZero() {
		// While this object is being deleted without the credential, K-ORC may still find
		// the credential: its status is not reliable at this point.
		return r.waiting("Recreating the object that keeps the replaced credential: "+korc.Describe(retained), since)
	}
	if korc.StateOf(retained).Available && ptr.Deref(retained.Status.ID, "") == *old.Status.ID {
		return r.handOver(ctx, old, retained)
	}
	if rejected, _ := r.secret.storedIsRejected(); rejected {
		// The object is orphaned because Keystone may accept the credential again, for
		// instance if the administrator was only disabled.
		if err := korc.Orphan(ctx, r.Pass, retained); err != nil {
			return err
		}
		return r.discard(ctx, old)
	}
	search, err := r.searchAgain(ctx, retained, since)
	if err != nil {
		return err
	}
	message := fmt.Sprintf("Waiting for %s, which keeps the replaced credential for its users; if this persists, check that "+
		"Keystone accepts the administrator's password in Secret %s", korc.Describe(retained), r.CP.AdminSecretRef().Name)
	return r.waiting(message, since).Within(wait).Within(search)
}

// handOver orphans the replaced credential to the object that retains it. It asks the API
// server whether that object still exists: if the cache were stale, the credential would
// never be revoked.
func (r *replacement) handOver(ctx context.Context, old, retained *orcv1alpha1.ApplicationCredential) error {
	stays, err := apply.Stays(ctx, r.ThirdParty, retained)
	switch {
	case err != nil:
		return err
	case !stays:
		return r.waiting("Recreating the object that keeps the replaced credential: "+korc.Describe(retained), r.replacedSince()).
			Within(r.RetryPeriod)
	}
	if err := korc.Orphan(ctx, r.Pass, old); err != nil {
		return err
	}
	return r.waiting("The replaced credential is kept by ApplicationCredential "+retained.Name, r.Now())
}

// searchAgain makes K-ORC search again for the credential that it did not find. When
// Keystone rejects the list request, K-ORC treats that as an empty list, and would then
// wait for a secret forever, even after its access is restored. The result is the requeue
// delay, zero to wait for a watch.
func (r *replacement) searchAgain(
	ctx context.Context, retained *orcv1alpha1.ApplicationCredential, since time.Time,
) (time.Duration, error) {
	if retained.Status.ID != nil || korc.StateOf(retained).Message == "" || !retained.DeletionTimestamp.IsZero() {
		return 0, nil
	}
	if wait := pass.RetryAfter(r.Pass, retained.CreationTimestamp.Time, since); wait > 0 {
		return wait, nil
	}
	return r.RetryPeriod, korc.Orphan(ctx, r.Pass, retained)
}

// discard removes a credential that no user needs.
func (r *replacement) discard(ctx context.Context, old *orcv1alpha1.ApplicationCredential) error {
	if err := korc.RevokeInKeystone(ctx, r.Pass, old); err != nil {
		return r.waiting(fmt.Sprintf("Removing %s: %v", korc.Describe(old), err), r.replacedSince()).Within(r.RetryPeriod)
	}
	if err := korc.RemoveWithResource(ctx, r.Pass, old); err != nil {
		return err
	}
	return r.waiting("Removing "+korc.Describe(old), r.Now())
}

// replacedSince returns when the replacement began. The condition may have been False
// before, for another reason.
func (r *replacement) replacedSince() time.Time {
	since := pass.FailingSince(r.Pass, c5c3v1alpha1.ConditionKORCReady)
	began, err := time.Parse(time.RFC3339, r.secret.object.Annotations[c5c3v1alpha1.AnnotationReplacedSince])
	if err == nil && began.After(since) && began.Before(r.Now()) {
		return began
	}
	return since
}

// isInUse reports whether the users have the credential, or are about to get it.
func (r *replacement) isInUse(ctx context.Context, credential *orcv1alpha1.ApplicationCredential) (bool, error) {
	if credential.Status.ID == nil {
		return false, nil
	}
	delivered, err := r.secret.deliveredClouds(ctx)
	if err != nil {
		return false, err
	}
	for _, text := range [][]byte{r.secret.object.Data[clouds.Key], delivered} {
		if id, _ := clouds.CredentialIn(text); id == *credential.Status.ID {
			return true, nil
		}
	}
	return false, nil
}

// waiting is the error during a step of a replacement that began at the given time.
func (r *replacement) waiting(message string, since time.Time) *reconcile.Stop {
	if passed := r.Now().Sub(since); passed >= r.StallTimeout {
		return reconcile.WaitError(c5c3v1alpha1.ReasonReMintStalled, fmt.Sprintf(
			"%s, for more than %s; repair K-ORC or its connection to Keystone; the users keep the old credential",
			message, r.StallTimeout)).After(soon(r.Pass))
	}
	return reconcile.WaitError(c5c3v1alpha1.ReasonReMinting, message).After(soon(r.Pass))
}

// soon returns the requeue delay for progress that no watch reports.
func soon(s *pass.Pass) time.Duration { return min(s.StallTimeout/2, time.Minute) }
