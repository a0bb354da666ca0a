package release

import (
	"regexp"
	"strconv"
)

// newest is the latest release whose major versions are known. A later release has majors
// that nobody has seen yet.
var newest = Release{Year: 2026, Minor: 2}

// Majors tells the release of a service from the major version of its package. Services
// that follow the coordinated releases raise it by one with each
// (https://releases.openstack.org/).
type Majors struct {
	// First is the earliest release that is told apart, and Major its major version.
	First Release
	Major int
}

// A vendor's build, such as 27.0.0-1ubuntu1, and a development build, such as 27.0.1.dev5,
// begin with the major version of the release that they belong to.
var majorVersion = regexp.MustCompile(`^v?([0-9]{1,4})(?:[.+~-]|$)`)

// Of returns the major version of a release, false if the release is not a known one.
func (m Majors) Of(r Release) (int, bool) {
	major, at := m.Major, Release{Year: m.First.Year, Minor: m.First.Minor}
	for at.Compare(newest) <= 0 {
		if at.SameRelease(r) {
			return major, true
		}
		major, at = major+1, at.Next()
	}
	return 0, false
}

// ReleaseOf returns the release that a version belongs to, without a suffix. It is false
// for a text that is no version, and for a major version that no known release has.
func (m Majors) ReleaseOf(version string) (Release, bool) {
	parts := majorVersion.FindStringSubmatch(version)
	if parts == nil {
		return Release{}, false
	}
	major, err := strconv.Atoi(parts[1])
	if err != nil || major < m.Major {
		return Release{}, false
	}
	found := Release{Year: m.First.Year, Minor: m.First.Minor}
	for range major - m.Major {
		if found = found.Next(); found.Compare(newest) > 0 {
			return Release{}, false
		}
	}
	return found, true
}
