package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// revoke ends a superseded credential at its time, and returns how long that is
// off. From when the time runs is kept on the object.
func (s *scope) revoke(ctx context.Context, old *orcv1alpha1.ApplicationCredential) (time.Duration, error) {
	if !old.DeletionTimestamp.IsZero() {
		return 0, s.prepareRemoval(ctx, old)
	}
	due, began := s.validUntil(old)
	wait := due.Sub(s.now())
	switch {
	case !began:
		before := old.DeepCopy()
		metav1.SetMetaDataAnnotation(&old.ObjectMeta, c5c3v1alpha1.AnnotationSupersededAt, s.now().UTC().Format(time.RFC3339))
		return wait, s.foreign.Patch(ctx, old, client.MergeFrom(before))
	case wait > 0:
		return wait, nil
	}
	if err := s.revokeInKeystone(ctx, old); err != nil {
		log.FromContext(ctx).Error(err, "Revoking a replaced application credential failed, it is tried again", "applicationCredential", old.Name)
		return s.retryPeriod, nil
	}
	return 0, s.removeWithResource(ctx, old)
}

// validUntil is until when a superseded credential has to work, and whether that
// time has begun.
func (s *scope) validUntil(old *orcv1alpha1.ApplicationCredential) (due time.Time, began bool) {
	// One that cannot be read is none: zero.
	asked, _ := time.ParseDuration(old.Annotations[c5c3v1alpha1.AnnotationCredentialOverlap])
	overlap := max(asked, s.spreadTime)
	at, err := time.Parse(time.RFC3339, old.Annotations[c5c3v1alpha1.AnnotationSupersededAt])
	// A clock that was ahead when the time began must not extend it.
	if err != nil || at.After(s.now()) {
		return s.now().Add(overlap), false
	}
	return at.Add(overlap), true
}

// overdueSince is when a superseded credential should have been gone. It is false
// as long as that has time, or nobody has tried: after an outage the first pass
// finds its time long over.
func (s *scope) overdueSince(old *orcv1alpha1.ApplicationCredential) (since time.Time, overdue bool) {
	if !old.DeletionTimestamp.IsZero() {
		return old.DeletionTimestamp.Time, true
	}
	due, _ := s.validUntil(old)
	return due, s.attempts.failed(old.UID)
}

// revokeInKeystone makes sure that Keystone has the credential no longer. K-ORC
// alone would not: it takes every look that fails, such as one with a wrong
// password, for one that finds nothing.
func (s *scope) revokeInKeystone(ctx context.Context, obj client.Object) error {
	credential, ok := obj.(*orcv1alpha1.ApplicationCredential)
	if !ok || credential.Status.ID == nil || !credential.DeletionTimestamp.IsZero() {
		return nil
	}
	return s.attempts.try(credential.UID, s.now(), s.retryPeriod, func() error { return s.revokeByID(ctx, *credential.Status.ID) })
}

func (s *scope) revokeByID(ctx context.Context, id string) error {
	if outcome := s.readAdminPassword(ctx); !outcome.IsDone() {
		return fmt.Errorf("revoking application credential %s: %s", id, outcome.Message())
	}
	return s.revokeCredential(ctx, authURL(s.cp), s.adminPassword, id)
}

// removeWithResource deletes an object that K-ORC is to remove from Keystone, too,
// unless it is one that always stays there.
func (s *scope) removeWithResource(ctx context.Context, obj orcObject) error {
	if err := s.prepareRemoval(ctx, obj); err != nil {
		return err
	}
	return s.removeOnce(ctx, obj)
}

// prepareRemoval lets K-ORC remove the object: with a cloud that needs no
// application credential and that the clouds.yaml has by its current name, and
// together with the resource, should a detachment have been left half done.
func (s *scope) prepareRemoval(ctx context.Context, obj orcObject) error {
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("the deep copy of %T is not a client.Object", obj)
	}
	if withCloud, ok := obj.(orcv1alpha1.CloudCredentialsRefProvider); ok {
		_, ref := withCloud.GetCloudCredentialsRef()
		*ref = removalCloud(s.cp, obj)
	}
	_, stays := obj.GetLabels()[labelBootstrap]
	options := managedOptions(obj)
	if obj.GetDeletionTimestamp().IsZero() && !stays && options != nil && (*options).GetOnDelete() == orcv1alpha1.OnDeleteDetach {
		*options = &orcv1alpha1.ManagedOptions{OnDelete: orcv1alpha1.OnDeleteDelete}
	}
	if equality.Semantic.DeepEqual(before, obj) {
		return nil
	}
	if err := s.foreign.Patch(ctx, obj, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("preparing the removal of %s %s: %w", kindName(obj), obj.GetName(), err)
	}
	return nil
}

// attempts remembers which revocations failed. They are tried less and less often:
// Keystone may lock out an administrator whose password is tried too often with a
// wrong value.
type attempts struct {
	mu   sync.Mutex
	last map[types.UID]attempt
}

type attempt struct {
	err  error
	wait time.Duration
	next time.Time
}

// failed tells whether the last attempt did.
func (a *attempts) failed(of types.UID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last[of].err != nil
}

// try does it, unless it failed not long ago: then it returns that error again.
func (a *attempts) try(of types.UID, now time.Time, firstWait time.Duration, do func() error) error {
	a.mu.Lock()
	last := a.last[of]
	a.mu.Unlock()
	if now.Before(last.next) {
		return last.err
	}
	err := do()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		delete(a.last, of)
		return nil
	}
	if a.last == nil {
		a.last = map[types.UID]attempt{}
	}
	wait := min(max(2*last.wait, firstWait), maxRetryPeriod)
	a.last[of] = attempt{err: err, wait: wait, next: now.Add(wait)}
	return err
}
