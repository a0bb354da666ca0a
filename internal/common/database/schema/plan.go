package schema

import (
	"fmt"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

const imageTag = commonv1.ImageTagField

// schemaPlan is what the image's release requires of the database.
type schemaPlan int

const (
	// schemaRefuse changes nothing.
	schemaRefuse schemaPlan = iota
	// schemaSync installs the schema, or updates it within a release.
	schemaSync
	// schemaUpgrade moves to a later release in phases.
	schemaUpgrade
	// schemaAbort aborts an upgrade that has not contracted the schema.
	schemaAbort
)

// request is what is asked of the schema.
type request struct {
	// tag is the image's tag.
	tag string
	// slurp permits what [Schema.SLURP] does, anyDistance an upgrade that skips any number
	// of releases.
	slurp, anyDistance bool
}

func (w *work) request() request {
	return request{tag: w.Spec.Image.Tag, slurp: w.SLURP, anyDistance: w.AllowUnsupportedUpgrades}
}

// planSchema decides what is to be done with the installed schema. contracted is the tag
// of the release to which the schema was last contracted, "" if there was none. A first
// installation accepts any tag. With schemaRefuse there is an error.
func planSchema(asked request, status *commonv1.ServiceStatus, contracted string) (schemaPlan, error) {
	to, from := asked.tag, status.InstalledRelease
	if status.UpgradePhase != "" && status.TargetRelease != "" {
		return planRunningUpgrade(to, status, contracted)
	}
	if from == "" {
		return schemaSync, nil
	}
	if to == from {
		if isLater(contracted, from) {
			return refuseAbort(from, contracted)
		}
		return schemaSync, nil
	}
	installed, err := release.Parse(from)
	if err != nil {
		return refuse(vocabulary.ReasonVersionParseError,
			"the installed release cannot be compared with "+imageTag+" %s: %w; set "+imageTag+" back to %s", to, err, from)
	}
	target, err := release.Parse(to)
	if err != nil {
		return refuse(vocabulary.ReasonVersionParseError, "spec."+imageTag+": %w", err)
	}
	switch change := release.Classify(installed, target, asked.slurp); {
	case change == release.Downgrade:
		return refuse(vocabulary.ReasonDowngradeNotSupported,
			"going back from %s to %s is not possible, because the database schema cannot be downgraded; set "+imageTag+" to %s or later",
			from, to, from)
	case change == release.Skip && !asked.anyDistance:
		return refuse(vocabulary.ReasonUpgradePathInvalid,
			"upgrading from %s to %s skips a release; go to %s first", from, to, release.Toward(installed, target, asked.slurp))
	case change == release.Skip, change == release.Upgrade:
		return schemaUpgrade, nil
	}
	return schemaSync, nil
}

// planRunningUpgrade either continues an upgrade or, as long as the old release can use
// the schema, aborts it.
func planRunningUpgrade(tag string, status *commonv1.ServiceStatus, contracted string) (schemaPlan, error) {
	from, to := status.InstalledRelease, status.TargetRelease
	noReturn := status.UpgradePhase == commonv1.UpgradePhaseContracting || contracted == to
	switch tag {
	case to:
		return schemaUpgrade, nil
	case from:
		if noReturn {
			return refuseAbort(from, to)
		}
		return schemaAbort, nil
	}
	remedy := fmt.Sprintf("set "+imageTag+" to %s to finish it", to)
	if !noReturn {
		remedy += fmt.Sprintf(", or to %s to abort it", from)
	}
	return refuse(vocabulary.ReasonUpgradeTargetChanged, imageTag+" became %s during the upgrade from %s to %s; %s",
		tag, from, to, remedy)
}

func refuse(reason, format string, arguments ...any) (schemaPlan, error) {
	return schemaRefuse, reconcile.TerminalError(reason, fmt.Errorf(format, arguments...))
}

// refuseAbort keeps pods of the old release away from a schema that no longer has what
// they use.
func refuseAbort(from, to string) (schemaPlan, error) {
	return refuse(vocabulary.ReasonUpgradeAbortRefused,
		"the upgrade from %s to %s can no longer be aborted, because the contraction of the database schema has begun; set "+imageTag+" to %s",
		from, to, to)
}

// isLater reports whether one tag is a later release than the other. It is false if
// either tag is not a release.
func isLater(tag, than string) bool {
	a, errA := release.Parse(tag)
	b, errB := release.Parse(than)
	return errA == nil && errB == nil && a.Compare(b) > 0
}
