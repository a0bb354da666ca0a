package release

import "strconv"

// Change is what a move from one release to another means for the database.
type Change int

const (
	// None is a move to the very same release and suffix.
	None Change = iota
	// Patch is a move within a release: the schema stays the same.
	Patch
	// Upgrade is a move to the release that follows: the schema is expanded
	// before and contracted after the rollout.
	Upgrade
	// Downgrade is a move to an earlier release, which Keystone's migrations
	// cannot do.
	Downgrade
	// Skip is a move past the release that follows, whose migrations would be
	// left out.
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

// Classify tells what moving from the installed to the target release means.
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
