package release

import (
	"slices"
	"strings"
	"testing"
)

func TestParseAcceptsReleasesWithAndWithoutSuffix(t *testing.T) {
	tests := map[string]Release{
		"2025.2":               {Year: 2025, Minor: 2},
		"2010.1":               {Year: 2010, Minor: 1},
		"9999.2":               {Year: 9999, Minor: 2},
		"2025.2-upgraded":      {Year: 2025, Minor: 2, Suffix: "upgraded"},
		"2025.2-28.0.0-debian": {Year: 2025, Minor: 2, Suffix: "28.0.0-debian"},
		"2025.2--":             {Year: 2025, Minor: 2, Suffix: "-"},
	}
	for tag, want := range tests {
		t.Run(tag, func(t *testing.T) {
			got, err := Parse(tag)
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("got %+v, expected %+v", got, want)
			}
			if got.String() != tag {
				t.Errorf("got %s as text, expected the tag", got)
			}
		})
	}
}

func TestParseRefusesAnythingElse(t *testing.T) {
	for _, tag := range []string{
		"", "latest", "2025", "2025.", "2025.0", "2025.3", "2025.12", "2025.2.1", "2009.2", "0000.1", "20250.1", "025.1",
		"2025.2-", "2025.2_x", "2025.2upgraded", "v2025.2", " 2025.2", "2025.2 ", "2025.2\n", "2025.2-a b", "2025.2-a\n",
		"2025,2", "-2025.2", "+2025.2", "2025.+2", "٢٠٢٥.٢", "2025.2-é", "2025.2@sha256:0", "2025.2-a:b",
	} {
		t.Run(tag, func(t *testing.T) {
			got, err := Parse(tag)
			if err == nil {
				t.Fatalf("got %+v, expected an error", got)
			}
			if !strings.Contains(err.Error(), "is not an OpenStack release") {
				t.Errorf("got error %q, expected it to say what is wrong", err)
			}
		})
	}
}

func TestClassifyDistinguishesPatchUpgradeDowngradeAndSkip(t *testing.T) {
	tests := []struct {
		installed, target string
		// slurp and others are what it means for a service with and without support for
		// upgrades from SLURP release to SLURP release.
		slurp, others Change
	}{
		{"2025.2", "2025.2", None, None},
		{"2025.2-a", "2025.2-a", None, None},
		{"2025.2", "2025.2-upgraded", Patch, Patch},
		{"2025.2-b", "2025.2-a", Patch, Patch},
		{"2025.2-a", "2025.2", Patch, Patch},
		{"2025.1", "2025.2", Upgrade, Upgrade},
		{"2025.2", "2026.1", Upgrade, Upgrade},
		{"2025.2-a", "2026.1-a", Upgrade, Upgrade},
		{"2023.1", "2024.1", Upgrade, Skip},
		{"2025.1", "2026.1", Upgrade, Skip},
		{"2025.1-a", "2026.1-b", Upgrade, Skip},
		{"2022.1", "2023.1", Skip, Skip},
		{"2024.1", "2026.1", Skip, Skip},
		{"2025.1", "2026.2", Skip, Skip},
		{"2024.2", "2025.2", Skip, Skip},
		{"2025.2", "2026.2", Skip, Skip},
		{"2025.1", "2035.2", Skip, Skip},
		{"2025.2", "2025.1", Downgrade, Downgrade},
		{"2026.1", "2025.2", Downgrade, Downgrade},
		{"2026.1", "2025.1", Downgrade, Downgrade},
		{"2026.1", "2025.1-newer", Downgrade, Downgrade},
	}
	for _, tc := range tests {
		t.Run(tc.installed+" to "+tc.target, func(t *testing.T) {
			for slurp, want := range map[bool]Change{true: tc.slurp, false: tc.others} {
				if got := Classify(mustParse(t, tc.installed), mustParse(t, tc.target), slurp); got != want {
					t.Errorf("got %s, expected %s; SLURP: %t", got, want, slurp)
				}
			}
		})
	}
}

func TestTowardReturnsTheNextReleaseOfASkippingUpgrade(t *testing.T) {
	for _, tc := range []struct{ installed, target, slurp, others string }{
		{"2024.1", "2026.1", "2025.1", "2024.2"},
		{"2024.1-a", "2026.1-a", "2025.1", "2024.2"},
		{"2024.1", "2025.2", "2025.1", "2024.2"},
		{"2024.2", "2025.2", "2025.1", "2025.1"},
		{"2022.2", "2025.1", "2023.1", "2023.1"},
		{"2022.1", "2025.1", "2022.2", "2022.2"},
	} {
		for slurp, want := range map[bool]string{true: tc.slurp, false: tc.others} {
			if got := Toward(mustParse(t, tc.installed), mustParse(t, tc.target), slurp).String(); got != want {
				t.Errorf("from %s to %s: got %s, expected %s; SLURP: %t", tc.installed, tc.target, got, want, slurp)
			}
		}
	}
}

func TestTowardReachesEveryReleaseStepByStep(t *testing.T) {
	for _, slurp := range []bool{true, false} {
		for _, from := range all() {
			for _, to := range all() {
				for at := from; Classify(at, to, slurp) == Skip; {
					next := Toward(at, to, slurp)
					if Classify(at, next, slurp) != Upgrade || next.Compare(to) >= 0 {
						t.Fatalf("from %s to %s it leads from %s to %s", from, to, at, next)
					}
					at = next
				}
			}
		}
	}
}

func TestCompareOrdersReleasesChronologically(t *testing.T) {
	got := []Release{{2026, 1, ""}, {2025, 2, ""}, {2010, 2, ""}, {2025, 1, ""}, {2026, 2, ""}}
	slices.SortFunc(got, Release.Compare)

	want := []Release{{2010, 2, ""}, {2025, 1, ""}, {2025, 2, ""}, {2026, 1, ""}, {2026, 2, ""}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, expected %v", got, want)
	}
}

// all returns all releases of some years, with and without suffixes.
func all() []Release {
	var releases []Release
	for year := 2021; year < 2026; year++ {
		for minor := 1; minor <= lastMinor; minor++ {
			for _, suffix := range []string{"", "a", "b"} {
				releases = append(releases, Release{Year: year, Minor: minor, Suffix: suffix})
			}
		}
	}
	return releases
}

func TestCompareIsATotalOrderThatIgnoresSuffixes(t *testing.T) {
	for _, a := range all() {
		for _, b := range all() {
			if a.Compare(b) != -b.Compare(a) {
				t.Errorf("%s and %s compare as %d one way and %d the other", a, b, a.Compare(b), b.Compare(a))
			}
			same := a.Year == b.Year && a.Minor == b.Minor
			if a.SameRelease(b) != same || (a.Compare(b) == 0) != same {
				t.Errorf("%s and %s: got same release %t, expected %t", a, b, a.SameRelease(b), same)
			}
			for _, c := range all() {
				if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
					t.Errorf("%s, %s, %s are not in order", a, b, c)
				}
			}
		}
	}
}

func TestNextReturnsTheDirectSuccessor(t *testing.T) {
	for _, a := range all() {
		next := a.Next()
		if a.Compare(next) >= 0 || next.Suffix != "" {
			t.Errorf("%s follows %s, expected a later release without a suffix", next, a)
		}
		for _, b := range all() {
			if a.Compare(b) < 0 && b.Compare(next) < 0 {
				t.Errorf("%s lies between %s and its next release %s", b, a, next)
			}
		}
	}
}

func TestClassifyAgreesWithTheOrder(t *testing.T) {
	for _, a := range all() {
		for _, b := range all() {
			change, order := Classify(a, b, false), a.Compare(b)
			switch change {
			case None, Patch:
				if order != 0 || (change == None) != (a == b) {
					t.Errorf("%s to %s: got %s", a, b, change)
				}
			case Downgrade:
				if order <= 0 {
					t.Errorf("%s to %s: got %s", a, b, change)
				}
			case Upgrade, Skip:
				if order >= 0 || (change == Upgrade) != a.Next().SameRelease(b) {
					t.Errorf("%s to %s: got %s", a, b, change)
				}
			default:
				t.Errorf("%s to %s: got the unknown %s", a, b, change)
			}
		}
	}
}

func TestChangesPrintTheirNames(t *testing.T) {
	want := []string{"None", "Patch", "Upgrade", "Downgrade", "Skip", "Change(5)"}
	for i, name := range want {
		if got := Change(i).String(); got != name {
			t.Errorf("got %s, expected %s", got, name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, tag := range []string{"2025.2", "2025.2-upgraded", "latest", "2009.1", "2025.3", "2025.2-", "2025.2\n", ""} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		parsed, err := Parse(tag)
		if err != nil {
			return
		}
		if parsed.String() != tag {
			t.Errorf("%q parsed to %+v, which prints as %q", tag, parsed, parsed)
		}
		if parsed.Year < firstYear || parsed.Minor < 1 || parsed.Minor > lastMinor {
			t.Errorf("%q parsed to %+v, which is out of bounds", tag, parsed)
		}
		for _, slurp := range []bool{true, false} {
			staying, going := Classify(parsed, parsed, slurp), Classify(parsed, parsed.Next(), slurp)
			if staying != None || going != Upgrade {
				t.Errorf("%q: staying is %s and going on is %s; SLURP: %t", tag, staying, going, slurp)
			}
		}
	})
}

func mustParse(t *testing.T, tag string) Release {
	t.Helper()
	parsed, err := Parse(tag)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
