package korc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Revoke ends a superseded credential, or user of a service, at its time, and
// returns how long that is off. From when the time runs is kept on the object.
func Revoke(ctx context.Context, s *pass.Pass, old Object) (time.Duration, error) {
	if !old.GetDeletionTimestamp().IsZero() {
		return 0, PrepareRemoval(ctx, s, old)
	}
	due, began := ValidUntil(s, old)
	wait := due.Sub(s.Now())
	switch {
	case !began:
		return wait, beginOverlap(ctx, s, old)
	case wait > 0:
		return wait, nil
	}
	err := RevokeInKeystone(ctx, s, old)
	switch {
	case err == nil:
		return 0, RemoveWithResource(ctx, s, old)
	case !errors.Is(err, identity.ErrAsking):
		log.FromContext(ctx).Error(err, "Revoking a replaced credential failed; retrying", "kind", KindName(old), "name", old.GetName())
	}
	return s.RetryPeriod, nil
}

// beginOverlap notes that the successor has reached the users. A pass whose cache
// is behind must not begin the time anew.
func beginOverlap(ctx context.Context, s *pass.Pass, old Object) error {
	before, ok := old.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("the deep copy of %T is not a client.Object", old)
	}
	annotations := maps.Clone(old.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[c5c3v1alpha1.AnnotationSupersededAt] = s.Now().UTC().Format(time.RFC3339)
	old.SetAnnotations(annotations)
	return s.Foreign.Patch(ctx, old, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// ValidUntil is until when a superseded credential has to work, and whether that
// time has begun.
func ValidUntil(s *pass.Pass, old client.Object) (due time.Time, began bool) {
	// One that cannot be read is none: zero.
	asked, _ := time.ParseDuration(old.GetAnnotations()[c5c3v1alpha1.AnnotationCredentialOverlap])
	overlap := max(asked, s.SpreadTime)
	at, err := time.Parse(time.RFC3339, old.GetAnnotations()[c5c3v1alpha1.AnnotationSupersededAt])
	// A clock that was ahead when the time began must not extend it.
	if err != nil || at.After(s.Now()) {
		return s.Now().Add(overlap), false
	}
	return at.Add(overlap), true
}

// OverdueSince is when a superseded credential should have been gone. It is false
// as long as that has time, or nobody has tried: after an outage the first pass
// finds its time long over.
func OverdueSince(s *pass.Pass, old *orcv1alpha1.ApplicationCredential) (since time.Time, overdue bool) {
	if !old.DeletionTimestamp.IsZero() {
		return old.DeletionTimestamp.Time, true
	}
	due, _ := ValidUntil(s, old)
	return due, s.Revocations.Failed(s.Name(), ptr.Deref(old.Status.ID, ""))
}

// RevokeInKeystone makes sure that Keystone has the credential no longer, in the
// background: until then the error is identity.ErrAsking, or that of the last attempt. K-ORC
// alone would not make sure: it takes every look that fails, such as one with a
// wrong password, for one that finds nothing.
func RevokeInKeystone(ctx context.Context, s *pass.Pass, obj client.Object) error {
	if !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	switch obj := obj.(type) {
	case *orcv1alpha1.ApplicationCredential:
		if obj.Status.ID != nil {
			return RevokeByID(ctx, s, *obj.Status.ID)
		}
	case *orcv1alpha1.User:
		if obj.Status.ID != nil && isServiceUser(obj) {
			return revokeWith(ctx, s, s.DeleteUser, *obj.Status.ID)
		}
	}
	return nil
}

// RevokeByID is [RevokeInKeystone] for a credential without an object.
func RevokeByID(ctx context.Context, s *pass.Pass, id string) error {
	return revokeWith(ctx, s, s.RevokeCredential, id)
}

func revokeWith(ctx context.Context, s *pass.Pass, revoke identity.Revoke, id string) error {
	password, known := pass.AdminPassword.Get(s.Slots)
	var unreadable error
	if !known {
		password, unreadable = s.ReadAdminPassword(ctx)
	}
	// The pass, which goes on meanwhile, writes to its control plane.
	tools, name, at := s.Tools, s.Name(), controlplane.AuthURL(s.CP)
	now := func() time.Time { return tools.Now(name.Namespace) }
	return s.Revocations.Revoke(name, id, now, s.RetryPeriod, func(ctx context.Context) error {
		if unreadable != nil {
			return fmt.Errorf("revoking %s: %w", id, unreadable)
		}
		return revoke(ctx, at, password, id)
	})
}

// RemoveWithResource deletes an object, and a credential with what it stands for
// in Keystone.
func RemoveWithResource(ctx context.Context, s *pass.Pass, obj Object) error {
	if err := PrepareRemoval(ctx, s, obj); err != nil {
		return err
	}
	return RemoveOnce(ctx, s, obj)
}

// PrepareRemoval lets K-ORC remove the object: with a cloud that needs no
// application credential and that the clouds.yaml has by its current name, and a
// credential together with the resource, should a detachment have been left half
// done.
func PrepareRemoval(ctx context.Context, s *pass.Pass, obj Object) error {
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("the deep copy of %T is not a client.Object", obj)
	}
	if withCloud, ok := obj.(orcv1alpha1.CloudCredentialsRefProvider); ok {
		_, ref := withCloud.GetCloudCredentialsRef()
		*ref = removalCloud(s.CP, obj)
	}
	if options := managedOptions(obj); options != nil && obj.GetDeletionTimestamp().IsZero() {
		if wish := onDelete(obj); (*options).GetOnDelete() != wish {
			*options = &orcv1alpha1.ManagedOptions{OnDelete: wish}
		}
	}
	if equality.Semantic.DeepEqual(before, obj) {
		return nil
	}
	if err := s.Foreign.Patch(ctx, obj, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("preparing the removal of %s %s: %w", KindName(obj), obj.GetName(), err)
	}
	return nil
}

// onDelete is what becomes of the resource in Keystone. Only credentials and the
// users of services are the control plane's own: the rest was there before, or belongs to the database.
func onDelete(obj Object) orcv1alpha1.OnDelete {
	switch obj.(type) {
	case *orcv1alpha1.ApplicationCredential, *orcv1alpha1.User:
		return orcv1alpha1.OnDeleteDelete
	}
	return orcv1alpha1.OnDeleteDetach
}

// RemoveOnce deletes the object unless it is being deleted.
func RemoveOnce(ctx context.Context, s *pass.Pass, obj client.Object) error {
	if !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	return Remove(ctx, s, obj)
}
