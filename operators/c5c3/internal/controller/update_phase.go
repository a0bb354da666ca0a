package controller

import (
	"k8s.io/apimachinery/pkg/api/meta"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// rollBackRefused reports whether the Keystone's update was reverted too late: its
// schema has lost what the old release uses.
func rollBackRefused(keystone *keystonev1alpha1.Keystone) bool {
	status := keystone.Status
	if status.TargetRelease == "" || keystone.Spec.Image.Tag != status.InstalledRelease {
		return false
	}
	database := meta.FindStatusCondition(status.Conditions, keystonev1alpha1.ConditionDatabaseReady)
	return status.UpgradePhase == keystonev1alpha1.UpgradePhaseContracting ||
		database != nil && database.Reason == keystonev1alpha1.ReasonUpgradeAbortRefused && database.ObservedGeneration == keystone.Generation
}

// updatePhase derives the phase of an update from the Keystone: the image it was
// given, the release it has, and the upgrade it is in. Only for how an update
// ends the previous phase counts, since a Keystone that is not ready for another
// reason is not being updated.
func updatePhase(previous c5c3v1alpha1.UpdatePhase, keystone *keystonev1alpha1.Keystone) c5c3v1alpha1.UpdatePhase {
	wanted, status := keystone.Spec.Image.Tag, keystone.Status
	switch {
	case status.InstalledRelease == "":
		return c5c3v1alpha1.UpdatePhaseIdle
	case rollBackRefused(keystone):
		return c5c3v1alpha1.UpdatePhaseUpdatingServices
	case status.TargetRelease != "" && wanted == status.InstalledRelease:
		return c5c3v1alpha1.UpdatePhaseRollingBack
	case wanted != status.InstalledRelease && status.TargetRelease == wanted:
		return c5c3v1alpha1.UpdatePhaseUpdatingServices
	case wanted != status.InstalledRelease:
		return c5c3v1alpha1.UpdatePhaseUpdating
	case isReady(keystone) || previous == "" || previous == c5c3v1alpha1.UpdatePhaseIdle:
		return c5c3v1alpha1.UpdatePhaseIdle
	case previous == c5c3v1alpha1.UpdatePhaseRollingBack:
		return c5c3v1alpha1.UpdatePhaseRollingBack
	}
	return c5c3v1alpha1.UpdatePhaseVerifying
}
