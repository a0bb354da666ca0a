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
	// schemaOffline moves to a later release while no pod runs.
	schemaOffline
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
	// offline requests that an upgrade is offline.
	offline bool
}

func (w *work) request() request {
	tag := w.Spec.Image.Tag
	return request{
		tag: tag, slurp: w.SLURP, anyDistance: w.AllowUnsupportedUpgrades,
		offline: w.Resource.GetAnnotations()[commonv1.AnnotationOfflineUpgrade] == tag,
	}
}

// planSchema decides what is to be done with the installed schema. contracted is the tag
// of the latest release to which an upgrade has contracted the schema, or migrated it
// offline, "" if there was none. A first installation accepts any tag. With schemaRefuse
// there is an error.
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
			return refuseAbort(from, contracted, "")
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
	case change != release.Skip && change != release.Upgrade:
		return schemaSync, nil
	case asked.offline:
		return schemaOffline, nil
	case change == release.Skip && !asked.anyDistance:
		return refuse(vocabulary.ReasonUpgradePathInvalid,
			"upgrading from %s to %s skips a release; go to %s first, or request an offline upgrade with the annotation %s: %q: "+
				"the API is down during the upgrade, and the only way back is a restore of a database backup",
			from, to, release.Toward(installed, target, asked.slurp), commonv1.AnnotationOfflineUpgrade, to)
	}
	return schemaUpgrade, nil
}

// planRunningUpgrade either continues an upgrade or, as long as the old release can use
// the schema, aborts it. An upgrade that has begun offline stays offline.
func planRunningUpgrade(tag string, status *commonv1.ServiceStatus, contracted string) (schemaPlan, error) {
	from, to := status.InstalledRelease, status.TargetRelease
	noReturn := status.UpgradePhase.IsFinal() || contracted == to
	switch {
	case tag == to && status.UpgradePhase.IsOffline():
		return schemaOffline, nil
	case tag == to:
		return schemaUpgrade, nil
	case tag == from && noReturn:
		return refuseAbort(from, to, status.UpgradePhase)
	case tag == from:
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
func refuseAbort(from, to string, phase commonv1.UpgradePhase) (schemaPlan, error) {
	what, wayBack := "contraction of the database schema", ""
	if phase.IsOffline() {
		what, wayBack = "migration of the database", fmt.Sprintf("; the only way back to %s is a restore of a database backup", from)
	}
	return refuse(vocabulary.ReasonUpgradeAbortRefused,
		"the upgrade from %s to %s can no longer be aborted, because the %s has begun; set "+imageTag+" to %s%s", from, to, what, to, wayBack)
}

// isLater reports whether one tag is a later release than the other. It is false if
// either tag is not a release.
func isLater(tag, than string) bool {
	a, errA := release.Parse(tag)
	b, errB := release.Parse(than)
	return errA == nil && errB == nil && a.Compare(b) > 0
}
