package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/testutil/outside"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
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
	declared := map[string][]string{}
	kinds := slices.Concat(keystonev1alpha1.Vocabularies(), placementv1alpha1.Vocabularies(), c5c3v1alpha1.Vocabularies())
	for _, kind := range kinds {
		declared[kind.Kind] = typesOf(kind)
	}
	if diff := cmp.Diff(declared, documented); diff != "" {
		t.Errorf("conditions of the code and of %s (-code +page):\n%s", conditionsDoc, diff)
	}
}

func typesOf(kind vocabulary.Kind) []string {
	var types []string
	for _, condition := range kind.Conditions {
		types = append(types, condition.Type)
	}
	slices.Sort(types)
	return types
}
