package release

import "strconv"

// Change classifies the change from one release to another by its effect on the
// database.
type Change int

const (
	// None is a change to the same release and suffix.
	None Change = iota
	// Patch is a change within a release: the schema stays the same.
	Patch
	// Upgrade is a change to a later release that OpenStack supports in one step: the
	// schema is expanded before and contracted after the rollout.
	Upgrade
	// Downgrade is a change to an earlier release, which the migrations of OpenStack
	// services do not support.
	Downgrade
	// Skip is a change to a later release that skips more releases than OpenStack
	// supports in one step.
	Skip
)

// String returns the name of the constant.
func (c Change) String() string {
	switch c {
	case None:
		return "None"
	case Patch:
		return "Patch"
	case Upgrade:
		return "Upgrade"
	case Downgrade:
		return "Downgrade"
	case Skip:
		return "Skip"
	}
	return "Change(" + strconv.Itoa(int(c)) + ")"
}

// Classify returns what changing from the installed to the target release means for a
// service. slurp is as for [Toward].
func Classify(installed, target Release, slurp bool) Change {
	switch {
	case installed == target:
		return None
	case target.SameRelease(installed):
		return Patch
	case target.Compare(installed) < 0:
		return Downgrade
	case target.SameRelease(Toward(installed, target, slurp)):
		return Upgrade
	}
	return Skip
}

// Toward returns the release to which a service is upgraded first on the way from the
// installed release to a later one. slurp reports whether the service supports an upgrade
// from a SLURP release to the next one, which skips the release between them.
//
// The releases that end in .1 are SLURP releases ("skip level upgrade release process")
// since 2023.1. Upgrades that skip more are not supported, nor are those from and to other
// releases: https://governance.openstack.org/tc/resolutions/20220210-release-cadence-adjustment.html.
func Toward(installed, target Release, slurp bool) Release {
	next := Release{Year: installed.Year + 1, Minor: 1}
	if slurp && installed.isSLURP() && next.Compare(target) <= 0 {
		return next
	}
	return installed.Next()
}
