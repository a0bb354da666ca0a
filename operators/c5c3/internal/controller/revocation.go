package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// revoke ends a superseded credential, or user of a service, at its time, and
// returns how long that is off. From when the time runs is kept on the object.
func (s *scope) revoke(ctx context.Context, old orcObject) (time.Duration, error) {
	if !old.GetDeletionTimestamp().IsZero() {
		return 0, s.prepareRemoval(ctx, old)
	}
	due, began := s.validUntil(old)
	wait := due.Sub(s.now())
	switch {
	case !began:
		return wait, s.beginOverlap(ctx, old)
	case wait > 0:
		return wait, nil
	}
	err := s.revokeInKeystone(ctx, old)
	switch {
	case err == nil:
		return 0, s.removeWithResource(ctx, old)
	case !errors.Is(err, errAsking):
		log.FromContext(ctx).Error(err, "Revoking a replaced credential failed; retrying", "kind", kindName(old), "name", old.GetName())
	}
	return s.retryPeriod, nil
}

// beginOverlap notes that the successor has reached the users. A pass whose cache
// is behind must not begin the time anew.
func (s *scope) beginOverlap(ctx context.Context, old orcObject) error {
	before, ok := old.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("the deep copy of %T is not a client.Object", old)
	}
	annotations := maps.Clone(old.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[c5c3v1alpha1.AnnotationSupersededAt] = s.now().UTC().Format(time.RFC3339)
	old.SetAnnotations(annotations)
	return s.foreign.Patch(ctx, old, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// validUntil is until when a superseded credential has to work, and whether that
// time has begun.
func (s *scope) validUntil(old client.Object) (due time.Time, began bool) {
	// One that cannot be read is none: zero.
	asked, _ := time.ParseDuration(old.GetAnnotations()[c5c3v1alpha1.AnnotationCredentialOverlap])
	overlap := max(asked, s.spreadTime)
	at, err := time.Parse(time.RFC3339, old.GetAnnotations()[c5c3v1alpha1.AnnotationSupersededAt])
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
	return due, s.revocations.failed(s.name(), ptr.Deref(old.Status.ID, ""))
}

// revokeInKeystone makes sure that Keystone has the credential no longer, in the
// background: until then the error is errAsking, or that of the last attempt. K-ORC
// alone would not make sure: it takes every look that fails, such as one with a
// wrong password, for one that finds nothing.
func (s *scope) revokeInKeystone(ctx context.Context, obj client.Object) error {
	if !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	switch obj := obj.(type) {
	case *orcv1alpha1.ApplicationCredential:
		if obj.Status.ID != nil {
			return s.revokeByID(ctx, *obj.Status.ID)
		}
	case *orcv1alpha1.User:
		if obj.Status.ID != nil && isServiceUser(obj) {
			return s.revokeWith(ctx, s.deleteUser, *obj.Status.ID)
		}
	}
	return nil
}

func (s *scope) revokeByID(ctx context.Context, id string) error {
	return s.revokeWith(ctx, s.revokeCredential, id)
}

func (s *scope) revokeWith(ctx context.Context, revoke Revoke, id string) error {
	password, known := adminPassword.Get(s.Slots)
	var unreadable error
	if !known {
		password, unreadable = s.readAdminPassword(ctx)
	}
	// The pass, which goes on meanwhile, writes to its control plane.
	tools, name, at := s.toolbox, s.name(), authURL(s.cp)
	now := func() time.Time { return tools.now(name.Namespace) }
	return s.revocations.revoke(name, id, now, s.retryPeriod, func(ctx context.Context) error {
		if unreadable != nil {
			return fmt.Errorf("revoking %s: %w", id, unreadable)
		}
		return revoke(ctx, at, password, id)
	})
}

// removeWithResource deletes an object, and a credential with what it stands for
// in Keystone.
func (s *scope) removeWithResource(ctx context.Context, obj orcObject) error {
	if err := s.prepareRemoval(ctx, obj); err != nil {
		return err
	}
	return s.removeOnce(ctx, obj)
}

// prepareRemoval lets K-ORC remove the object: with a cloud that needs no
// application credential and that the clouds.yaml has by its current name, and a
// credential together with the resource, should a detachment have been left half
// done.
func (s *scope) prepareRemoval(ctx context.Context, obj orcObject) error {
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("the deep copy of %T is not a client.Object", obj)
	}
	if withCloud, ok := obj.(orcv1alpha1.CloudCredentialsRefProvider); ok {
		_, ref := withCloud.GetCloudCredentialsRef()
		*ref = removalCloud(s.cp, obj)
	}
	if options := managedOptions(obj); options != nil && obj.GetDeletionTimestamp().IsZero() {
		if wish := onDelete(obj); (*options).GetOnDelete() != wish {
			*options = &orcv1alpha1.ManagedOptions{OnDelete: wish}
		}
	}
	if equality.Semantic.DeepEqual(before, obj) {
		return nil
	}
	if err := s.foreign.Patch(ctx, obj, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("preparing the removal of %s %s: %w", kindName(obj), obj.GetName(), err)
	}
	return nil
}

// onDelete is what becomes of the resource in Keystone. Only credentials and the
// users of services are the control plane's own: the rest was there before, or belongs to the database.
func onDelete(obj orcObject) orcv1alpha1.OnDelete {
	switch obj.(type) {
	case *orcv1alpha1.ApplicationCredential, *orcv1alpha1.User:
		return orcv1alpha1.OnDeleteDelete
	}
	return orcv1alpha1.OnDeleteDetach
}

// revocations are done in the background. Those that fail are tried less and less
// often: Keystone may lock out an administrator whose password is tried too often
// with a wrong value.
type revocations struct {
	background background

	mu sync.Mutex
	// last are the last attempts, by the ids of the credentials.
	last map[types.NamespacedName]map[string]attempt
}

type attempt struct {
	succeeded bool
	err       error
	wait      time.Duration
	next      time.Time
}

// failed reports whether the last attempt did.
func (r *revocations) failed(of types.NamespacedName, id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[of][id].err != nil
}

// revoke returns nil once the revocation has succeeded, which is forgotten then. It
// has it tried unless that failed not long ago: the error is that of the last
// attempt, and errAsking before the first one has ended.
func (r *revocations) revoke(
	of types.NamespacedName, id string, now func() time.Time, firstWait time.Duration, do func(context.Context) error,
) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.last[of][id]
	if last.succeeded {
		delete(r.last[of], id)
		return nil
	}
	if !now().Before(last.next) {
		r.background.Do(of, id, func(ctx context.Context) { r.record(of, id, now, firstWait, do(ctx)) })
	}
	if last.err == nil {
		return errAsking
	}
	return last.err
}

func (r *revocations) record(of types.NamespacedName, id string, now func() time.Time, firstWait time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last[of] == nil {
		r.last[of] = map[string]attempt{}
	}
	wait := min(max(2*r.last[of][id].wait, firstWait), maxRetryPeriod)
	r.last[of][id] = attempt{succeeded: err == nil, err: err, wait: wait, next: now().Add(wait)}
}

func newRevocations(background background) *revocations {
	return &revocations{background: background, last: map[types.NamespacedName]map[string]attempt{}}
}

func (r *revocations) forget(of types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, of)
}
