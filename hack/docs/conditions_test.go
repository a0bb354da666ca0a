package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

const conditionsDoc = root + "/docs/conditions.md"

var conditionRow = regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|( [^|]+ \\|){3}$")

func TestEveryConditionOfEveryKindSaysWhatItProves(t *testing.T) {
	content, err := os.ReadFile(outside.File(conditionsDoc))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for _, section := range strings.Split(string(content), "\n## ")[1:] {
		kind, rows, _ := strings.Cut(section, "\n")
		for _, row := range conditionRow.FindAllStringSubmatch(rows, -1) {
			documented[kind] = append(documented[kind], row[1])
		}
		if lines := strings.Count(rows, "\n| `"); lines != len(documented[kind]) {
			t.Errorf("%s: %d of %d rows do not have three cells after the condition", kind, lines-len(documented[kind]), lines)
		}
		slices.Sort(documented[kind])
	}
	declared := declaredConditions(t)
	if diff := cmp.Diff(declared, documented); diff != "" {
		t.Errorf("conditions of the code and of %s (-code +page):\n%s", conditionsDoc, diff)
	}
}

// declaredConditions returns the conditions of each kind, from the references that are
// generated from the code.
func declaredConditions(t *testing.T) map[string][]string {
	t.Helper()
	references, err := filepath.Glob(outside.File(root + "/docs/reference/*-conditions.json"))
	if err != nil || len(references) == 0 {
		t.Fatalf("found %d references: %v", len(references), err)
	}
	declared := map[string][]string{}
	for _, reference := range references {
		content, err := os.ReadFile(outside.File(reference))
		if err != nil {
			t.Fatal(err)
		}
		var reasons []struct{ Kind, Condition string }
		if err := json.Unmarshal(content, &reasons); err != nil {
			t.Fatalf("%s: %v", reference, err)
		}
		for _, reason := range reasons {
			// Some reasons are those of events only.
			if reason.Condition != "" {
				declared[reason.Kind] = append(declared[reason.Kind], reason.Condition)
			}
		}
	}
	for kind, types := range declared {
		slices.Sort(types)
		declared[kind] = slices.Compact(types)
	}
	return declared
}
