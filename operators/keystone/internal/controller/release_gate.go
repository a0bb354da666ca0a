package controller

import (
	"fmt"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const imageTag = commonv1.ImageTagField

// schemaPlan is what has to happen to the database for the image's release.
type schemaPlan int

const (
	// schemaRefuse changes nothing.
	schemaRefuse schemaPlan = iota
	// schemaSync installs the schema, or brings it up to date within a release.
	schemaSync
	// schemaUpgrade goes to the next release, phase by phase.
	schemaUpgrade
	// schemaAbort takes back an upgrade that has not contracted the schema.
	schemaAbort
)

// planSchema decides what the image's release means for the installed schema.
// contracted is the tag of the release to which the schema was contracted last,
// "" if there was none. A first installation accepts any tag. With schemaRefuse
// the outcome says why.
func planSchema(k *keystonev1alpha1.Keystone, contracted string) (schemaPlan, reconcile.Outcome) {
	from, to := k.Status.InstalledRelease, k.Spec.Image.Tag
	if k.Status.UpgradePhase != "" && k.Status.TargetRelease != "" {
		return planRunningUpgrade(k, contracted)
	}
	if from == "" {
		return schemaSync, reconcile.Outcome{}
	}
	if to == from {
		if isLater(contracted, from) {
			return schemaRefuse, refuseAbort(from, contracted)
		}
		return schemaSync, reconcile.Outcome{}
	}
	installed, err := release.Parse(from)
	if err != nil {
		return refuse(keystonev1alpha1.ReasonVersionParseError,
			"the installed release cannot be compared with "+imageTag+" %s: %w; set "+imageTag+" back to %s", to, err, from)
	}
	target, err := release.Parse(to)
	if err != nil {
		return refuse(keystonev1alpha1.ReasonVersionParseError, "spec."+imageTag+": %w", err)
	}
	switch release.Classify(installed, target) {
	case release.Downgrade:
		return refuse(keystonev1alpha1.ReasonDowngradeNotSupported,
			"going back from %s to %s is not possible, because the database schema cannot be downgraded; set "+imageTag+" to %s or later",
			from, to, from)
	case release.Skip:
		return refuse(keystonev1alpha1.ReasonUpgradePathInvalid,
			"upgrading from %s to %s skips a release; go to %s first", from, to, installed.Next())
	case release.Upgrade:
		return schemaUpgrade, reconcile.Outcome{}
	}
	return schemaSync, reconcile.Outcome{}
}

// planRunningUpgrade lets an upgrade only go on or, as long as the old release
// fits the schema, back.
func planRunningUpgrade(k *keystonev1alpha1.Keystone, contracted string) (schemaPlan, reconcile.Outcome) {
	from, to := k.Status.InstalledRelease, k.Status.TargetRelease
	noReturn := k.Status.UpgradePhase == keystonev1alpha1.UpgradePhaseContracting || contracted == to
	switch k.Spec.Image.Tag {
	case to:
		return schemaUpgrade, reconcile.Outcome{}
	case from:
		if noReturn {
			return schemaRefuse, refuseAbort(from, to)
		}
		return schemaAbort, reconcile.Outcome{}
	}
	remedy := fmt.Sprintf("set "+imageTag+" to %s to finish it", to)
	if !noReturn {
		remedy += fmt.Sprintf(", or to %s to abort it", from)
	}
	return refuse(keystonev1alpha1.ReasonUpgradeTargetChanged, imageTag+" became %s during the upgrade from %s to %s; %s",
		k.Spec.Image.Tag, from, to, remedy)
}

func refuse(reason, format string, arguments ...any) (schemaPlan, reconcile.Outcome) {
	return schemaRefuse, reconcile.Terminal(reason, fmt.Errorf(format, arguments...))
}

// refuseAbort keeps pods of the old release off a schema that has lost what
// they use.
func refuseAbort(from, to string) reconcile.Outcome {
	return reconcile.Terminal(keystonev1alpha1.ReasonUpgradeAbortRefused, fmt.Errorf(
		"the upgrade from %s to %s can no longer be aborted, because the contraction of the database schema has begun; set "+imageTag+" to %s",
		from, to, to))
}

// isLater reports whether a tag stands for a later release than another. A tag
// that is no release is not later.
func isLater(tag, than string) bool {
	a, errA := release.Parse(tag)
	b, errB := release.Parse(than)
	return errA == nil && errB == nil && a.Compare(b) > 0
}
