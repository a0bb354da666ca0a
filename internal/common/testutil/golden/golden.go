// Package golden compares documents with files under testdata.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Compare fails the test when got differs from testdata/<name>. With the flag
// -update it writes the file instead.
func Compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // Test data is world-readable.
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil { //nolint:gosec // Test data is world-readable.
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path) //nolint:gosec // The name comes from the test.
	if err != nil {
		t.Fatalf("read the golden file, write it with -update: %v", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("differs from %s, run the test with -update if that is intended (-want +got):\n%s", path, diff)
	}
}

// CompareYAML is Compare for the YAML form of an object.
func CompareYAML(t *testing.T, name string, obj any) {
	t.Helper()
	encoded, err := yaml.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	Compare(t, name, string(encoded))
}
