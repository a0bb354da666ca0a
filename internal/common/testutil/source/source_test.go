package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func writeGo(t *testing.T, source string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "words.go")
	if err := os.WriteFile(path, []byte("package words\n\n"+source), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConstantsCarryTheirComment(t *testing.T) {
	got, err := Constants(writeGo(t, `
// Words.
const (
	// ReasonLeaking: stop the leak,
	// then bail.
	ReasonLeaking = "Leaking"
	// ConditionAfloat reports whether it floats.
	ConditionAfloat = "Afloat"

	ReasonMoored = harbour.ReasonMoored
)
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Constant{
		{Name: "ReasonLeaking", Value: "Leaking", Meaning: "Stop the leak, then bail."},
		{Name: "ConditionAfloat", Value: "Afloat", Meaning: "Reports whether it floats."},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAConstantWithoutAMeaningIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ source, message string }{
		"no comment":      {`const ReasonLeaking = "Leaking"`, "ReasonLeaking needs a comment"},
		"not a string":    {"const (\n\t// Depth is deep.\n\tDepth = 3\n)", "Depth must be a string literal"},
		"two in one line": {`const A, B = "a", "b"`, "one name and one value"},
		"not Go":          {"const (", "expected"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Constants(writeGo(t, c.source)); err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("want %q, got %v", c.message, err)
			}
		})
	}
}
