// Package short leaves tests out of a short run ("go test -short"), such as "make test".
// "make check" runs all tests.
package short

import "testing"

// Skip leaves the test out of a short run. It is for expensive tests that say little about
// the operators themselves, or that repeat what another test of the short run shows.
func Skip(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("not with -short") //nolint:forbidigo // A full run does not skip it.
	}
}
