package services

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// release leaves the resource of a service that is no longer in the spec, with its data,
// unless the user has allowed its deletion.
func (all List) release(ctx context.Context, s *pass.Pass, svc Service) reconcile.Outcome {
	all.observeNone(s, svc)
	message := svc.field() + " is not set"
	if !s.Kinds.Served(svc.Kind) {
		return reconcile.Done(svc.reasons.notManaged, message)
	}
	child, err := svc.settlePolicy(ctx, s)
	if err != nil {
		return reconcile.WriteFailed(svc.reasons.failed, err)
	}
	if err := all.admitClients(ctx, s, svc, child); err != nil {
		return reconcile.WriteFailed(svc.reasons.failed, err)
	}
	if svc.mayBeDeleted(s.CP) {
		return svc.delete(ctx, s, child, message)
	}
	return reconcile.Done(svc.reasons.notManaged, fmt.Sprintf(
		"%s; %s %s, if there is one, is kept unless the annotation %s is true; "+
			"when this ControlPlane is deleted, it goes with it and its data is kept",
		message, svc.Kind.Kind, svc.childName(s.CP), svc.allowDeletion))
}

// delete deletes the resource and its parts, and the service's users in Keystone. A resource that
// is being deleted does not need its parts any more.
func (svc Service) delete(ctx context.Context, s *pass.Pass, child child, message string) reconcile.Outcome {
	child.SetName(svc.childName(s.CP))
	child.SetNamespace(s.CP.Namespace)
	if err := apply.EnsureAbsent(ctx, s.ThirdParty, s.CP, child); err != nil {
		return reconcile.Failed(svc.reasons.failed, err)
	}
	if _, err := svc.deleteParts(ctx, s, nil); err != nil {
		return reconcile.Failed(svc.reasons.failed, err)
	}
	again, err := dropUsers(ctx, s, svc)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonServiceUserError, err)
	}
	return reconcile.Done(svc.reasons.notManaged, message).After(again)
}

// mayBeDeleted reports whether the user has allowed the deletion of the resource, or it has no
// data.
func (svc Service) mayBeDeleted(cp *c5c3v1alpha1.ControlPlane) bool {
	if svc.allowDeletion == "" {
		return true
	}
	allowed, err := strconv.ParseBool(cp.Annotations[svc.allowDeletion])
	return err == nil && allowed
}

// settlePolicy returns the resource of a service that is no longer in the spec. It sets
// what becomes of its data before the resource can be deleted: a resource that is kept goes
// with the control plane at the latest, which nobody has asked to delete its data, and one
// that is deleted on request follows the control plane. A service without a database has
// nothing to keep.
func (svc Service) settlePolicy(ctx context.Context, s *pass.Pass) (child, error) {
	child := svc.Empty()
	if err := s.ThirdParty.Get(ctx, pass.Key(s, svc.childName(s.CP)), child); err != nil {
		return child, client.IgnoreNotFound(err)
	}
	if err := pass.Wake(ctx, s, child); err != nil {
		return child, err
	}
	policy := commonv1.DeletionPolicyRetain
	if svc.mayBeDeleted(s.CP) && s.CP.Spec.DeletionPolicy != policy {
		policy = commonv1.DeletionPolicyDelete
	}
	data := commonv1.DataOf(child)
	if data == nil || cmp.Or(data.DeletionPolicy, commonv1.DeletionPolicyDelete) == policy || !metav1.IsControlledBy(child, s.CP) {
		return child, nil
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"deletionPolicy":%q}}`, policy))
	return child, client.IgnoreNotFound(apply.Patch(ctx, s.ThirdParty, child, patch, "setting the deletion policy of"))
}
