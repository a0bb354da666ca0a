package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sampleSchema = `{
  "type": "object", "additionalProperties": false, "required": ["image"],
  "properties": {
    "global": {"type": "object"},
    "image": {"type": "object", "properties": {
      "tag": {"type": "string", "pattern": "^<?[a-z]*$"},
      "pullPolicy": {"enum": ["Always", "Never"]}
    }},
    "selector": {"$ref": "#/definitions/strings"}
  },
  "definitions": {"strings": {"type": "object", "additionalProperties": {"type": "string"}}}
}`

const sampleValues = `# The image of the operator.
image:
  tag: ""
  # When nodes fetch it.
  pullPolicy: Always

# Which nodes may run it,
# by their labels.
selector:
  disk: fast
`

func schemaOf(t *testing.T, text string) object {
	t.Helper()
	schema := object{}
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestTheValuesTableListsDefaultsAndDescriptions(t *testing.T) {
	values, err := readValues([]byte(sampleValues), schemaOf(t, sampleSchema))
	if err != nil {
		t.Fatal(err)
	}
	want := "| Value | Default | |\n|---|---|---|\n" +
		"| `image.tag` | empty | The image of the operator. |\n" +
		"| `image.pullPolicy` | `Always` | When nodes fetch it. One of `Always`, `Never`. |\n" +
		"| `selector` | `{\"disk\":\"fast\"}` | Which nodes may run it, by their labels. |\n"
	if diff := cmp.Diff(want, table(values)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestAValueThatIsNotDescribedOrNotAllowedIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ values, want string }{
		"no comment":       {strings.Replace(sampleValues, "# The image of the operator.\n", "", 1), "image.tag has no comment"},
		"not in schema":    {sampleValues + "# Nothing.\nextra: 1\n", "extra is not in the schema"},
		"not in values":    {strings.Replace(sampleValues, "  tag: \"\"\n", "", 1), "image.tag is in the schema but not in values.yaml"},
		"not even a start": {"[]", "not a mapping"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := readValues([]byte(c.values), schemaOf(t, sampleSchema)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestASchemaKeepsItsRulesAndGetsDescriptions(t *testing.T) {
	schema := schemaOf(t, sampleSchema)
	values, err := readValues([]byte(sampleValues), schema)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := encode(describe(schema, "sample", values))
	if err != nil {
		t.Fatal(err)
	}
	described := schemaOf(t, string(encoded))
	image := properties(properties(described)["image"].(object))
	want := object{"type": "string", "pattern": "^<?[a-z]*$", "description": "The image of the operator.", "default": ""}
	if diff := cmp.Diff(want, image["tag"]); diff != "" {
		t.Errorf("image.tag (-want +got):\n%s", diff)
	}
	want = object{
		"allOf":       []any{object{"$ref": "#/definitions/strings"}},
		"description": "Which nodes may run it, by their labels.", "default": object{"disk": "fast"},
	}
	if diff := cmp.Diff(want, properties(described)["selector"]); diff != "" {
		t.Errorf("selector (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(encoded), "^<?") {
		t.Error("patterns are escaped")
	}
	if diff := cmp.Diff(schemaOf(t, sampleSchema), schema); diff != "" {
		t.Errorf("the source was changed (-want +got):\n%s", diff)
	}
}

func TestChartValuesAreMergedWithTheSharedValues(t *testing.T) {
	own := schemaOf(t, `{"required": ["korc"], "properties": {"korc": {"type": "string"}, "image": {"type": "string"}}}`)
	got := merge(schemaOf(t, sampleSchema), own)
	if diff := cmp.Diff([]any{"image", "korc"}, got["required"]); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
	if got := properties(got)["korc"]; got == nil {
		t.Error("its own value is missing")
	}
	if got := properties(got)["image"].(object); got["type"] != "string" || got["properties"] == nil {
		t.Errorf("image is %v", got)
	}
}

func TestFilesAreWrittenAndThenCheckedAgainstTheirSources(t *testing.T) {
	dir := t.TempDir()
	chart := filepath.Join(dir, "sample")
	write(t, filepath.Join(chart, "values.yaml"), sampleValues)
	write(t, filepath.Join(chart, "README.md"), "# sample\n\n"+tableStart+"old\n"+tableEnd+"end\n")
	write(t, filepath.Join(dir, "base.json"), sampleSchema)
	args := []string{
		"-base", filepath.Join(dir, "base.json"), "-own", filepath.Join(dir, "none.json"), "-page", filepath.Join(dir, "page.md"), chart,
	}
	if err := run(append([]string{"-check"}, args...)); err == nil || !strings.Contains(err.Error(), "run make generate") {
		t.Errorf("before: got %v, want to be told to generate", err)
	}
	if err := run(args); err != nil {
		t.Fatal(err)
	}
	if err := run(append([]string{"-check"}, args...)); err != nil {
		t.Errorf("after: %v", err)
	}
	readme, err := os.ReadFile(filepath.Join(chart, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(readme)
	if strings.Contains(text, "old") || !strings.Contains(text, "`image.tag`") || !strings.HasSuffix(text, tableEnd+"end\n") {
		t.Errorf("README is\n%s", text)
	}
	write(t, filepath.Join(chart, "README.md"), "# sample\n")
	if err := run(args); err == nil || !strings.Contains(err.Error(), "no place for the table") {
		t.Errorf("got %v, want to hear that there is no place", err)
	}
	if err := os.Remove(filepath.Join(chart, "README.md")); err != nil {
		t.Fatal(err)
	}
	err = run(args)
	for _, part := range []string{"README.md is missing", strings.TrimSpace(tableStart), strings.TrimSpace(tableEnd)} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want to be told %q", err, part)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
