package docs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const aPage = "# Title\n\nUse `make\nx` now.\n\n" +
	"1. Do:\n\n   ```yaml merge=Keystone\n   a: 1\n   ```\n\n" +
	"```\nplain\n```\n\n" +
	"| A |\n|---|\n| `a \\| b` |\n"

const aScript = `f() { make a B='c d' | tee "$(make b)"; }
kubectl -n x get pods,jobs \
  --output=json -- -n y && helm install r "dir" --set a.b=c
`

func TestCodeBlocksAreParsedWithMarkAndLine(t *testing.T) {
	page, err := parsePage("a.md", []byte(aPage))
	if err != nil {
		t.Fatal(err)
	}
	want := Page{
		Path: "a.md",
		Blocks: []Code{
			{Page: "a.md", Line: 8, Language: "yaml", Mark: "merge=Keystone", Text: "a: 1\n"},
			{Page: "a.md", Line: 1, Text: "plain\n"},
		},
		Spans: []Code{{Page: "a.md", Line: 3, Text: "make x"}, {Page: "a.md", Line: 18, Text: "a | b"}},
	}
	if diff := cmp.Diff(want, page); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTheCommandsOfAScriptAreReadWordByWord(t *testing.T) {
	got, err := Commands(aScript)
	if err != nil {
		t.Fatal(err)
	}
	want := []Command{
		{"make", "a", "B=c d"},
		{"tee", ""},
		{"make", "b"},
		{"kubectl", "-n", "x", "get", "pods,jobs", "--output=json", "--", "-n", "y"},
		{"helm", "install", "r", "dir", "--set", "a.b=c"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"get", "pods,jobs"}, got[3].Arguments()); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a.b=c"}, got[4].Values("--set")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if _, err := Commands("if true; then"); err == nil {
		t.Error("half a script was read")
	}
}

func TestACodeBlockIsDecodedIntoObjects(t *testing.T) {
	objects, err := Objects("# nothing\n---\napiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Secret\n")
	if err != nil || len(objects) != 2 || objects[1].GetKind() != "Secret" {
		t.Errorf("got %v, %v", objects, err)
	}
	for name, text := range map[string]string{
		"a field twice": "apiVersion: v1\nkind: Pod\nkind: Pod\n",
		"a fragment":    "spec:\n  replicas: 1\n",
		"no YAML":       "a: b: c\n",
	} {
		if objects, err := Objects(text); err == nil {
			t.Errorf("%s became %v", name, objects)
		}
	}
}

func TestAFragmentIsMergedIntoItsExample(t *testing.T) {
	objects, err := Objects("apiVersion: v1\nkind: Pod\nspec: {a: 1, b: 2}\n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Merge(objects[0], "spec:\n  a: null\n  c: 3\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"b": int64(2), "c": int64(3)}, got.Object["spec"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
