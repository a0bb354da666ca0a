package controller

import (
	"context"
	"errors"

	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// reconcilePasswordRotation reports on the scheduled change of the
// administrator's password. A schedule that this version does not carry out is
// refused rather than ignored.
func reconcilePasswordRotation(_ context.Context, s *scope) reconcile.Outcome {
	if s.keystone.Spec.PasswordRotationEnabled() {
		return reconcile.Terminal(keystonev1alpha1.ReasonReconcileError, errors.New(
			"this version does not rotate the administrator's password; set spec.bootstrap.passwordRotation.enabled to false "+
				"and change the password in its Secret"))
	}
	return reconcile.Done(keystonev1alpha1.ReasonRotationDisabled, "spec.bootstrap.passwordRotation is not enabled")
}
