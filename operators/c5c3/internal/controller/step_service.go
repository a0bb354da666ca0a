package controller

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// reconcile projects the control plane into the resource of the service and
// reports what becomes of it.
func (all serviceList) reconcile(ctx context.Context, s *scope, svc service) reconcile.Outcome {
	if !svc.wanted(s.cp) {
		return all.release(ctx, s, svc)
	}
	if !s.kinds.Served(svc.kind) {
		return reconcile.Waiting(svc.reasons.notInstalled, fmt.Sprintf(
			"The cluster has no kind %[1]s: install the %[1]s operator", svc.kind.Kind))
	}
	user := s.keepUser(ctx, svc)
	if svc.user != nil && user.login == "" {
		return user.outcome
	}
	child, err := svc.child(s.cp, given{login: user.login, policy: all.globalPolicy(s.cp, svc)})
	if err != nil {
		return reconcile.Terminal(svc.reasons.failed, err)
	}
	err = apply.EnsureObject[client.Object](ctx, s.foreign, s.scheme, s.cp, child, fieldManager)
	switch {
	case apierrors.IsInvalid(err):
		return reconcile.WriteFailed(svc.reasons.rejected, err)
	case err != nil:
		return reconcile.WriteFailed(svc.reasons.failed, err)
	}
	all.observe(s, svc, child)
	if err := all.admitClients(ctx, s, svc, child); err != nil {
		return reconcile.WriteFailed(svc.reasons.failed, err)
	}
	switch {
	case child.RefusesRollBack():
		return reconcile.Terminal(svc.reasons.rollBackRefused, fmt.Errorf(
			"the update from %s to %s can no longer be aborted, because the contraction of the database schema has begun; "+
				"set %s to %s", child.InstalledRelease(), child.TargetRelease(), svc.releaseField(s.cp), child.TargetRelease()))
	case !user.outcome.IsDone():
		return user.outcome
	case !isReady(child):
		return reconcile.Waiting(svc.reasons.waiting, svc.progress(s.cp, child))
	}
	return svc.settle(ctx, s, child, user)
}

// settle removes what a service that is ready does not need any more.
func (svc service) settle(ctx context.Context, s *scope, child child, user userState) reconcile.Outcome {
	done := reconcile.Done(svc.reasons.ready, fmt.Sprintf("%s %s is ready", svc.kind.Kind, child.GetName()))
	if svc.user == nil {
		return done
	}
	again, err := s.retireUsers(ctx, svc, user.current)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonServiceUserError, err)
	}
	return done.After(cmp.Or(again, s.proofs.due()))
}

// isReady passes over what the service's operator said about an earlier spec.
func isReady(child child) bool {
	ready := meta.FindStatusCondition(child.GetConditions(), vocabulary.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == child.GetGeneration()
}

func (svc service) progress(cp *c5c3v1alpha1.ControlPlane, child child) string {
	ready := meta.FindStatusCondition(child.GetConditions(), vocabulary.ConditionReady)
	switch {
	case ready == nil || ready.ObservedGeneration != child.GetGeneration():
		return fmt.Sprintf("The %[1]s operator has not looked at %[1]s %[2]s yet", svc.kind.Kind, child.GetName())
	case ready.Message == "":
		return fmt.Sprintf("%s %s is not ready", svc.kind.Kind, child.GetName())
	}
	message := fmt.Sprintf("%s %s is not ready: %s", svc.kind.Kind, child.GetName(), ready.Message)
	if child.AsksForImageTag() {
		message += "; here " + svc.releaseField(cp) + " sets " + commonv1.ImageTagField
	}
	return message
}

// releaseField is the field that sets the image tag of the service.
func (svc service) releaseField(cp *c5c3v1alpha1.ControlPlane) string {
	if image := svc.image(cp); image != nil && image.Tag != "" {
		return svc.field() + "." + commonv1.ImageTagField
	}
	return "spec.openStackRelease"
}

// release leaves the resource of a service that the spec no longer names as it is,
// with its data, unless the user agreed to its deletion.
func (all serviceList) release(ctx context.Context, s *scope, svc service) reconcile.Outcome {
	all.observeNone(s, svc)
	message := svc.field() + " is not set"
	if !s.kinds.Served(svc.kind) {
		return reconcile.Done(svc.reasons.notManaged, message)
	}
	child := svc.empty()
	if err := s.foreign.Get(ctx, s.key(svc.childName(s.cp)), child); client.IgnoreNotFound(err) != nil {
		return reconcile.Failed(svc.reasons.failed, err)
	}
	if err := all.admitClients(ctx, s, svc, child); err != nil {
		return reconcile.WriteFailed(svc.reasons.failed, err)
	}
	if allowed, err := strconv.ParseBool(s.cp.Annotations[svc.allowDeletion]); err == nil && allowed {
		child.SetName(svc.childName(s.cp))
		child.SetNamespace(s.cp.Namespace)
		if err := apply.EnsureAbsent(ctx, s.foreign, s.cp, child); err != nil {
			return reconcile.Failed(svc.reasons.failed, err)
		}
		again, err := s.dropUsers(ctx, svc)
		if err != nil {
			return reconcile.Failed(c5c3v1alpha1.ReasonServiceUserError, err)
		}
		return reconcile.Done(svc.reasons.notManaged, message).After(again)
	}
	return reconcile.Done(svc.reasons.notManaged, fmt.Sprintf(
		"%s; %s %s, if there is one, is kept unless the annotation %s is true",
		message, svc.kind.Kind, svc.childName(s.cp), svc.allowDeletion))
}
