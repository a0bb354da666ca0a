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

	"github.com/c5c3/forge/internal/common/apply"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Revoke revokes a superseded credential or service user when it is due, and returns the
// delay until then. The start of the overlap is recorded on the object.
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

// beginOverlap records that the successor has reached the users. A pass with a stale
// cache must not restart the overlap.
func beginOverlap(ctx context.Context, s *pass.Pass, old Object) error {
	before := apply.Copy(old)
	annotations := maps.Clone(old.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[c5c3v1alpha1.AnnotationSupersededAt] = s.Now().UTC().Format(time.RFC3339)
	old.SetAnnotations(annotations)
	return apply.Merge(ctx, s.ThirdParty, before, old, "recording the successor of")
}

// ValidUntil returns until when a superseded credential must keep working, and whether
// its overlap has begun.
func ValidUntil(s *pass.Pass, old client.Object) (due time.Time, began bool) {
	// An unparsable duration counts as zero.
	asked, _ := time.ParseDuration(old.GetAnnotations()[c5c3v1alpha1.AnnotationCredentialOverlap])
	overlap := max(asked, s.SpreadTime)
	at, err := time.Parse(time.RFC3339, old.GetAnnotations()[c5c3v1alpha1.AnnotationSupersededAt])
	// A clock that was ahead at the beginning must not extend the overlap.
	if err != nil || at.After(s.Now()) {
		return s.Now().Add(overlap), false
	}
	return at.Add(overlap), true
}

// OverdueSince returns when a superseded credential should have been gone. overdue is
// false while the credential has time left, or before an attempt was made: after an
// outage the first pass finds it long overdue.
func OverdueSince(s *pass.Pass, old *orcv1alpha1.ApplicationCredential) (since time.Time, overdue bool) {
	if !old.DeletionTimestamp.IsZero() {
		return old.DeletionTimestamp.Time, true
	}
	due, _ := ValidUntil(s, old)
	return due, s.Proofs.RevocationFailed(s.NamespacedName, ptr.Deref(old.Status.ID, ""))
}

// RevokeInKeystone ensures in the background that the credential is gone from Keystone.
// Until then the error is identity.ErrAsking, or that of the last attempt. K-ORC alone is
// not enough: it treats every failed read, for instance with a wrong password, as not
// found.
func RevokeInKeystone(ctx context.Context, s *pass.Pass, obj client.Object) error {
	if !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	switch obj := obj.(type) {
	case *orcv1alpha1.ApplicationCredential:
		if obj.Status.ID != nil && !isServiceCredential(obj) {
			return RevokeByID(ctx, s, *obj.Status.ID)
		}
	case *orcv1alpha1.User:
		if obj.Status.ID != nil && isServiceUser(obj) {
			return RevokeWith(ctx, s, s.DeleteUser, *obj.Status.ID)
		}
	}
	return nil
}

// RevokeByID is [RevokeInKeystone] for a credential without an object.
func RevokeByID(ctx context.Context, s *pass.Pass, id string) error {
	return RevokeWith(ctx, s, s.RevokeCredential, id)
}

// RevokeWith is [RevokeInKeystone] for anything that a function removes from Keystone by its
// ID.
func RevokeWith(ctx context.Context, s *pass.Pass, revoke identity.Revoke, id string) error {
	password, known := pass.AdminPassword.Get(s.Slots)
	var unreadable error
	if !known {
		password, unreadable = pass.ReadAdminPassword(ctx, s)
	}
	// The pass continues in parallel and writes to its control plane, so the task must
	// not use it.
	at := controlplane.AuthURL(s.CP)
	return s.Proofs.Revoke(s.NamespacedName, id, s.RetryPeriod, func(ctx context.Context) error {
		if unreadable != nil {
			return fmt.Errorf("revoking %s: %w", id, unreadable)
		}
		return revoke(ctx, at, password, id)
	})
}

// RemoveWithResource deletes an object and, if it is a credential, its resource in
// Keystone.
func RemoveWithResource(ctx context.Context, s *pass.Pass, obj Object) error {
	if err := PrepareRemoval(ctx, s, obj); err != nil {
		return err
	}
	return RemoveOnce(ctx, s, obj)
}

// PrepareRemoval enables K-ORC to remove the object. It sets a cloud that needs no
// application credential, under its current name in the clouds.yaml. A credential of the
// administrator is removed with its resource, even if it was being detached before.
func PrepareRemoval(ctx context.Context, s *pass.Pass, obj Object) error {
	before := apply.Copy(obj)
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
	return client.IgnoreNotFound(apply.MergeUnlocked(ctx, s.ThirdParty, before, obj, "preparing the removal of"))
}

// onDelete returns what happens to the resource in Keystone. Only credentials and service
// users belong to the control plane: everything else existed before, or belongs to the
// database. The credential of a service user is left to the deletion of that user.
func onDelete(obj Object) orcv1alpha1.OnDelete {
	switch obj := obj.(type) {
	case *orcv1alpha1.ApplicationCredential:
		if isServiceCredential(obj) {
			return orcv1alpha1.OnDeleteDetach
		}
		return orcv1alpha1.OnDeleteDelete
	case *orcv1alpha1.User:
		return orcv1alpha1.OnDeleteDelete
	}
	return orcv1alpha1.OnDeleteDetach
}

// RemoveOnce deletes the object unless it is already being deleted.
func RemoveOnce(ctx context.Context, s *pass.Pass, obj client.Object) error {
	if !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	return Remove(ctx, s, obj)
}
