package types

import "testing"

func TestATagIsReadFromAnImageReference(t *testing.T) {
	for reference, want := range map[string]string{
		"ghcr.io/c5c3/keystone:2025.2": "2025.2", "registry:5000/keystone": "", "registry:5000/keystone:2025.1": "2025.1", "keystone": "", "": "",
		"ghcr.io/c5c3/keystone@sha256:abab": "", "registry:5000/keystone:2025.1@sha256:abab": "2025.1",
	} {
		if got := TagOf(reference); got != want {
			t.Errorf("%q: got %q, want %q", reference, got, want)
		}
	}
}
