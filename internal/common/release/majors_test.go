package release

import "testing"

func TestTheReleaseIsDerivedFromTheMajorVersion(t *testing.T) {
	keystone := Majors{First: Release{Year: 2022, Minor: 2}, Major: 22}
	for version, want := range map[string]string{
		"22.0.1": "2022.2", "23.0.0": "2023.1", "27.0.0": "2025.1", "30.0.0.0rc1": "2026.2", "27.0.1.dev5": "2025.1",
		"27.0.0-1ubuntu1": "2025.1", "28.1+vendor": "2025.2", "v29": "2026.1",
		"21.0.0": "", "31.0.0": "", "2026.1": "", "": "", "master": "", "27x": "",
	} {
		got, known := keystone.ReleaseOf(version)
		if known != (want != "") || known && got.String() != want {
			t.Errorf("%q: got %v, %t, want %q", version, got, known, want)
		}
	}
	for tag, want := range map[string]int{"2022.2": 22, "2025.1": 27, "2026.2-rebuild": 30, "2022.1": 0, "2027.1": 0} {
		wanted, err := Parse(tag)
		if err != nil {
			t.Fatal(err)
		}
		if got, known := keystone.Of(wanted); got != want || known != (want > 0) {
			t.Errorf("%s: got %d, %t, want %d", tag, got, known, want)
		}
	}
}
