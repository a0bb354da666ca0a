package controller

import (
	"fmt"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/release"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// refuseRelease decides whether the image's release may run on the installed
// schema. A first installation accepts any tag.
func refuseRelease(k *keystonev1alpha1.Keystone) (reconcile.Outcome, bool) {
	from, to := k.Status.InstalledRelease, k.Spec.Image.Tag
	if from == "" || from == to {
		return reconcile.Outcome{}, false
	}
	installed, err := release.Parse(from)
	if err != nil {
		return reconcile.Terminal(keystonev1alpha1.ReasonVersionParseError, fmt.Errorf(
			"the installed release cannot be compared with image.tag %s: %w; set image.tag back to %s", to, err, from)), true
	}
	target, err := release.Parse(to)
	if err != nil {
		return reconcile.Terminal(keystonev1alpha1.ReasonVersionParseError, fmt.Errorf("spec.image.tag: %w", err)), true
	}
	switch release.Classify(installed, target) {
	case release.Downgrade:
		return reconcile.Terminal(keystonev1alpha1.ReasonDowngradeNotSupported, fmt.Errorf(
			"going back from %s to %s is not possible, because the database schema does not go back; set image.tag to %s or later",
			from, to, from)), true
	case release.Skip:
		return reconcile.Terminal(keystonev1alpha1.ReasonUpgradePathInvalid, fmt.Errorf(
			"upgrading from %s to %s skips a release; go to %s first", from, to, installed.Next())), true
	case release.Upgrade:
		return reconcile.Terminal(keystonev1alpha1.ReasonUpgradePathInvalid, fmt.Errorf(
			"this version of the operator does not upgrade between releases; set image.tag back to %s", from)), true
	}
	return reconcile.Outcome{}, false
}
