package docs

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// checkValues returns the errors of the chart's schema about its default values
// merged with the given ones.
func checkValues(t *testing.T, chart string, values []byte) error {
	t.Helper()
	folder, ok := charts(t)[chart]
	if !ok {
		t.Fatalf("there is no chart %q", chart)
	}
	var own any
	readYAML(t, folder+"/values.yaml", &own)
	defaults, err := json.Marshal(own)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := jsonpatch.MergePatch(defaults, values)
	if err != nil {
		return err
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(root, folder, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(merged)))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value)
}

func TestDocumentedHelmValuesAreAcceptedByTheirChart(t *testing.T) {
	seen := 0
	for _, page := range pages(t) {
		for _, block := range page.Blocks {
			chart, ok := strings.CutPrefix(block.Mark, markValues)
			if !ok {
				continue
			}
			seen++
			documents, err := Documents(block.Text)
			if err != nil || len(documents) != 1 {
				t.Fatalf("%s: %d documents, %v", block, len(documents), err)
			}
			if err := checkValues(t, chart, documents[0]); err != nil {
				t.Errorf("%s: %v", block, err)
			}
		}
	}
	enough(t, seen, 2, "files of values")
}

func TestEveryValueThatHelmSetsExists(t *testing.T) {
	known := map[string]map[string]bool{}
	for name, folder := range charts(t) {
		var values map[string]any
		readYAML(t, folder+"/values.yaml", &values)
		known[name] = map[string]bool{}
		collectValues("", values, known[name])
	}
	seen := 0
	eachCommand(t, pages(t), func(code Code, command Command) {
		arguments := command.Arguments()
		for _, setting := range command.Values("--set") {
			seen++
			path, _, _ := strings.Cut(setting, "=")
			if release := arguments[1]; !known[release][path] {
				t.Errorf("%s: the chart of %s has no value %s", code, release, path)
			}
		}
	}, "helm")
	enough(t, seen, 5, "values")
}
