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
	// Upgrade is a change to the next release: the schema is expanded
	// before and contracted after the rollout.
	Upgrade
	// Downgrade is a change to an earlier release, which Keystone's migrations
	// do not support.
	Downgrade
	// Skip is a change to a release after the next one, which would skip the
	// migrations of the next one.
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

// Classify returns what changing from the installed to the target release means.
func Classify(installed, target Release) Change {
	switch {
	case installed == target:
		return None
	case target.SameRelease(installed):
		return Patch
	case target.Compare(installed) < 0:
		return Downgrade
	case target.SameRelease(installed.Next()):
		return Upgrade
	}
	return Skip
}
