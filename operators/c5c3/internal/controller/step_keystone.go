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
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

var keystoneKind = keystonev1alpha1.GroupVersion.WithKind("Keystone")

const serviceKeystone = "keystone"

// reconcileKeystone projects the control plane into a Keystone and reports what
// becomes of it.
func reconcileKeystone(ctx context.Context, s *scope) reconcile.Outcome {
	if s.cp.Spec.Services.Keystone == nil {
		return s.releaseKeystone(ctx)
	}
	if !s.kinds.Served(keystoneKind) {
		return reconcile.Waiting(c5c3v1alpha1.ReasonKeystoneNotInstalled,
			"The cluster has no kind Keystone: install the Keystone operator")
	}
	keystone, err := keystoneChild(s.cp)
	if err != nil {
		return reconcile.Terminal(c5c3v1alpha1.ReasonKeystoneError, err)
	}
	err = apply.EnsureObject(ctx, s.foreign, s.scheme, s.cp, keystone, fieldManager)
	switch {
	case apierrors.IsInvalid(err):
		return writeError(c5c3v1alpha1.ReasonKeystoneProjectionRejected, err)
	case err != nil:
		return writeError(c5c3v1alpha1.ReasonKeystoneError, err)
	}
	s.observe(keystone)
	if err := s.admitClients(ctx, keystone); err != nil {
		return writeError(c5c3v1alpha1.ReasonKeystoneError, err)
	}
	switch {
	case rollBackRefused(keystone):
		return reconcile.Terminal(c5c3v1alpha1.ReasonRollBackRefused, fmt.Errorf(
			"the update from %s to %s cannot be taken back, because its contraction of the database schema has begun; "+
				"set %s to %s", keystone.Status.InstalledRelease, keystone.Status.TargetRelease, releaseField(s.cp), keystone.Status.TargetRelease))
	case isReady(keystone):
		return reconcile.Done(c5c3v1alpha1.ReasonKeystoneReady, "Keystone "+keystone.Name+" is ready")
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForKeystone, keystoneProgress(s.cp, keystone))
}

// observe shows the Keystone in the status of the control plane.
func (s *scope) observe(keystone *keystonev1alpha1.Keystone) {
	s.cp.Status.Services = []c5c3v1alpha1.ServiceStatus{{
		Name: serviceKeystone, Release: keystone.Status.InstalledRelease,
	}}
	s.cp.Status.UpdatePhase = updatePhase(s.cp.Status.UpdatePhase, keystone)
}

// summarise completes the status of a pass that did not get as far as the
// Keystone: a service is ready when its condition is.
func summarise(cp *c5c3v1alpha1.ControlPlane) {
	cp.Status.UpdatePhase = cmp.Or(cp.Status.UpdatePhase, c5c3v1alpha1.UpdatePhaseIdle)
	for i := range cp.Status.Services {
		cp.Status.Services[i].Ready = meta.IsStatusConditionTrue(cp.Status.Conditions, c5c3v1alpha1.ConditionKeystoneReady)
	}
}

// isReady passes over what the Keystone operator said about an earlier spec.
func isReady(keystone *keystonev1alpha1.Keystone) bool {
	ready := meta.FindStatusCondition(keystone.Status.Conditions, keystonev1alpha1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == keystone.Generation
}

func keystoneProgress(cp *c5c3v1alpha1.ControlPlane, keystone *keystonev1alpha1.Keystone) string {
	ready := meta.FindStatusCondition(keystone.Status.Conditions, keystonev1alpha1.ConditionReady)
	switch {
	case ready == nil || ready.ObservedGeneration != keystone.Generation:
		return "The Keystone operator has not looked at Keystone " + keystone.Name + " yet"
	case ready.Message == "":
		return "Keystone " + keystone.Name + " is not ready"
	}
	message := fmt.Sprintf("Keystone %s is not ready: %s", keystone.Name, ready.Message)
	if keystone.AsksForImageTag() {
		message += "; here " + releaseField(cp) + " sets " + commonv1.ImageTagField
	}
	return message
}

// releaseField is the field that sets the Keystone's image tag.
func releaseField(cp *c5c3v1alpha1.ControlPlane) string {
	if keystone := cp.Spec.Services.Keystone; keystone != nil && keystone.Image != nil && keystone.Image.Tag != "" {
		return "spec.services.keystone.image.tag"
	}
	return "spec.openStackRelease"
}

// releaseKeystone leaves a Keystone that the spec no longer names as it is, with
// its data, unless the user agreed to its deletion.
func (s *scope) releaseKeystone(ctx context.Context) reconcile.Outcome {
	s.cp.Status.Services, s.cp.Status.UpdatePhase = nil, c5c3v1alpha1.UpdatePhaseIdle
	message := "spec.services.keystone is not set"
	if !s.kinds.Served(keystoneKind) {
		return reconcile.Done(c5c3v1alpha1.ReasonKeystoneNotManaged, message)
	}
	keystone := &keystonev1alpha1.Keystone{ObjectMeta: metav1.ObjectMeta{Name: s.cp.KeystoneName(), Namespace: s.cp.Namespace}}
	if err := s.foreign.Get(ctx, client.ObjectKeyFromObject(keystone), keystone); client.IgnoreNotFound(err) != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonKeystoneError, err)
	}
	if err := s.admitClients(ctx, keystone); err != nil {
		return writeError(c5c3v1alpha1.ReasonKeystoneError, err)
	}
	if allowed, err := strconv.ParseBool(s.cp.Annotations[c5c3v1alpha1.AnnotationAllowKeystoneDeletion]); err == nil && allowed {
		if err := apply.EnsureAbsent(ctx, s.foreign, s.cp, keystone); err != nil {
			return reconcile.Failed(c5c3v1alpha1.ReasonKeystoneError, err)
		}
		return reconcile.Done(c5c3v1alpha1.ReasonKeystoneNotManaged, message)
	}
	return reconcile.Done(c5c3v1alpha1.ReasonKeystoneNotManaged, fmt.Sprintf(
		"%s; Keystone %s, if there is one, is kept unless the annotation %s is true",
		message, s.cp.KeystoneName(), c5c3v1alpha1.AnnotationAllowKeystoneDeletion))
}
