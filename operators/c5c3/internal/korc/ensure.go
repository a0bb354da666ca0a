package korc

import (
	"context"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Ensure applies the object and repairs terminal errors of K-ORC: it treats transient
// failures, such as a broken connection, as terminal and never retries. The object is
// then recreated, with increasing delays while that does not help. Ensure returns the
// requeue delay, zero to wait for a watch.
func Ensure(ctx context.Context, s *pass.Pass, obj Object, failingSince time.Time) (time.Duration, error) {
	if err := apply.EnsureObject[client.Object](ctx, s.ThirdParty, s.Scheme, s.CP, obj, pass.FieldManager); err != nil {
		return 0, err
	}
	state := StateOf(obj)
	if !state.Failed || !obj.GetDeletionTimestamp().IsZero() {
		return 0, nil
	}
	wait := pass.RetryAfter(s, state.Since, failingSince)
	if wait > 0 {
		return wait, nil
	}
	return s.RetryPeriod, Orphan(ctx, s, obj)
}

// Orphan deletes the object and leaves the resource in OpenStack.
func Orphan(ctx context.Context, s *pass.Pass, obj Object) error {
	if !metav1.IsControlledBy(obj, s.CP) || !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	switch err := detach(ctx, s, obj); {
	case apierrors.IsConflict(err):
		// K-ORC may just have found the resource: the next pass reads the object again.
		return nil
	case err != nil:
		return err
	}
	return Remove(ctx, s, obj)
}

// detach tells K-ORC not to delete the resource in OpenStack. Imports have no such option
// because their resource is never deleted.
func detach(ctx context.Context, s *pass.Pass, obj Object) error {
	options := managedOptions(obj)
	if options == nil || (*options).GetOnDelete() == orcv1alpha1.OnDeleteDetach {
		return nil
	}
	before := apply.Copy(obj)
	*options = Detached()
	return client.IgnoreNotFound(apply.Merge(ctx, s.ThirdParty, before, obj, "detaching"))
}

// managedOptions returns where the object has its options, nil for imports.
func managedOptions(obj Object) **orcv1alpha1.ManagedOptions {
	switch obj := obj.(type) {
	case *orcv1alpha1.ApplicationCredential:
		return &obj.Spec.ManagedOptions
	case *orcv1alpha1.Service:
		return &obj.Spec.ManagedOptions
	case *orcv1alpha1.Endpoint:
		if obj.Spec.ManagementPolicy != orcv1alpha1.ManagementPolicyUnmanaged {
			return &obj.Spec.ManagedOptions
		}
	case *orcv1alpha1.Project:
		return &obj.Spec.ManagedOptions
	case *orcv1alpha1.Role:
		return &obj.Spec.ManagedOptions
	case *orcv1alpha1.User:
		if isServiceUser(obj) {
			return &obj.Spec.ManagedOptions
		}
	}
	return nil
}

// Remove deletes the object only in exactly the version that was read: K-ORC may have
// found its resource since.
func Remove(ctx context.Context, s *pass.Pass, obj client.Object) error {
	return apply.DeleteUnchanged(ctx, s.ThirdParty, obj)
}
