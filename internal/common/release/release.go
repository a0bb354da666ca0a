// Package release parses the OpenStack release in an image tag: its
// grammar, its order and what a change from one to another means.
package release

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// Since 2010 OpenStack has two releases a year; the scheme has no third release.
const (
	firstYear = 2010
	lastMinor = 2
)

// firstSLURPYear is the year of the first release from which the next may be skipped.
const firstSLURPYear = 2023

// The suffix is limited to what an image tag may contain.
var grammar = regexp.MustCompile(`^([0-9]{4})\.([12])(?:-([A-Za-z0-9._-]+))?$`)

// Release is a coordinated OpenStack release, such as 2025.2, and the suffix
// that distinguishes its builds.
type Release struct {
	// Year of the release, four digits, 2010 or later.
	Year int
	// Minor is 1 for the first release of the year and 2 for the second.
	Minor int
	// Suffix is the part after the hyphen, empty if there is none. It does not
	// affect the order of releases.
	Suffix string
}

// Parse reads an image tag of the form YYYY.N or YYYY.N-suffix, with a year from
// 2010 on and N being 1 or 2. Any other tag is an error that names it.
func Parse(tag string) (Release, error) {
	parts := grammar.FindStringSubmatch(tag)
	if parts == nil {
		return Release{}, invalid(tag)
	}
	year, err := strconv.Atoi(parts[1])
	if err != nil || year < firstYear {
		return Release{}, invalid(tag)
	}
	minor, err := strconv.Atoi(parts[2])
	if err != nil {
		return Release{}, invalid(tag)
	}
	return Release{Year: year, Minor: minor, Suffix: parts[3]}, nil
}

func invalid(tag string) error {
	return fmt.Errorf("image tag %q is not an OpenStack release: use YYYY.1 or YYYY.2 with an optional -suffix, "+
		"such as 2025.2 or 2025.2-rebuild", tag)
}

// String returns the release in the form that Parse reads.
func (r Release) String() string {
	text := fmt.Sprintf("%04d.%d", r.Year, r.Minor)
	if r.Suffix != "" {
		text += "-" + r.Suffix
	}
	return text
}

// Compare is negative if r is an earlier release than other, zero if they are
// the same release and positive if r is later. Suffixes are not compared.
func (r Release) Compare(other Release) int {
	return cmp.Or(cmp.Compare(r.Year, other.Year), cmp.Compare(r.Minor, other.Minor))
}

// SameRelease reports whether the two differ at most in the suffix.
func (r Release) SameRelease(other Release) bool {
	return r.Compare(other) == 0
}

// Next returns the next release, without a suffix: 2025.2 after 2025.1,
// 2026.1 after 2025.2.
func (r Release) Next() Release {
	if r.Minor < lastMinor {
		return Release{Year: r.Year, Minor: r.Minor + 1}
	}
	return Release{Year: r.Year + 1, Minor: 1}
}

// isSLURP reports whether OpenStack supports an upgrade from r that skips a release.
func (r Release) isSLURP() bool { return r.Minor == 1 && r.Year >= firstSLURPYear }
