package pages

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/testutil/source"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got), UPDATE=1 accepts it:\n%s", path, diff)
	}
}

func TestAKindIsDescribedFieldByField(t *testing.T) {
	content, err := os.ReadFile("testdata/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, crd); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	page := Page{Title: "Boat API", Command: "make boats", External: map[string]string{"spec.sail": "https://example.com/sail"}}
	if err := page.WriteCRDs(&out, crd); err != nil {
		t.Fatal(err)
	}
	golden(t, "crd.md", out.Bytes())
}

func TestAKindWithoutASchemaIsRefused(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "boats.example.com"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1"}}
	err := Page{}.WriteCRDs(&bytes.Buffer{}, crd)
	if err == nil || !strings.Contains(err.Error(), "boats.example.com has no schema in version v1") {
		t.Errorf("got %v", err)
	}
}

func TestTheVocabularyPageExplainsEveryConditionReasonAndEvent(t *testing.T) {
	conditions := []vocabulary.Condition{{Type: "Afloat", Aggregated: true, True: []string{"Afloat"}, False: []string{"Leaking"}}}
	events := []vocabulary.Event{{Reason: "Leaking", Type: "Warning"}}
	constants := []source.Constant{
		{Name: "ConditionAfloat", Value: "Afloat", Meaning: "Tells whether it floats."},
		{Name: "ReasonAfloat", Value: "Afloat", Meaning: "Nothing to do."},
		{Name: "ReasonLeaking", Value: "Leaking", Meaning: "Stop the leak | bail."},
		{Name: "EventLeaking", Value: "Leaking", Meaning: "It began to leak."},
	}
	said := vocabulary.Kind{Kind: "Boat", Conditions: conditions, Events: events}
	var out, index bytes.Buffer
	page := Page{Title: "Boat conditions", Command: "make boats"}
	if err := page.writeVocabulary(&out, said, constants); err != nil {
		t.Fatal(err)
	}
	golden(t, "vocabulary.md", out.Bytes())
	if err := writeIndex(&index, said, constants); err != nil {
		t.Fatal(err)
	}
	golden(t, "vocabulary.json", index.Bytes())

	for count, message := range map[int]string{
		1: `no constant Reason... tells what "Afloat" means`,
		3: `no constant Event... tells what "Leaking" means`,
	} {
		some := constants[:count]
		for name, err := range map[string]error{"page": page.writeVocabulary(&out, said, some), "index": writeIndex(&out, said, some)} {
			if err == nil || !strings.Contains(err.Error(), message) {
				t.Errorf("%s: want %q, got %v", name, message, err)
			}
		}
	}
}

func TestStepsAreShownInTheirOrderWithWhatTheyNeed(t *testing.T) {
	pipeline := reconcile.Pipeline[int]{
		{Name: "Hull", Condition: "Afloat"},
		{Name: "Log", Condition: "LogKept", Informational: true},
		{Name: "Crew", Condition: "Manned", Needs: []string{"Hull"}},
		{Name: "Voyage", Condition: "Sailing", Needs: []string{"Hull", "Crew"}},
	}
	finalizers := []reconcile.Finalizer[int]{
		{Name: "example.com/mooring", Step: reconcile.Step[int]{Name: "Moor", Condition: "Sailing"}},
	}
	anchor := reconcile.Pipeline[int]{{Name: "Anchor", Condition: "Ready"}}
	var out bytes.Buffer
	err := Page{Title: "Steps of boats", Command: "make boats"}.WritePipelines(&out,
		reconcile.NewOutline("Boat", pipeline, finalizers), reconcile.NewOutline("Anchor", anchor, nil))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "pipelines.md", out.Bytes())
}

func TestFlagsAreReadFromTheHelpOfAProgram(t *testing.T) {
	fs := flag.NewFlagSet("boat", flag.ContinueOnError)
	fs.String("harbour", "Kiel", "The `name` of the harbour | home, as in <name>.")
	fs.Bool("anchored", false, "Stay.\nOr go.")
	fs.Bool("v", true, "Talk (a lot).")
	fs.Duration("tide", time.Hour, "How long to wait.")
	var help, out bytes.Buffer
	fs.SetOutput(&help)
	fs.Usage()
	page := Page{Title: "Flags of boat", Command: "make boats"}
	if err := page.WriteFlags(&out, help.String()); err != nil {
		t.Fatal(err)
	}
	golden(t, "flags.md", out.Bytes())
	if err := page.WriteFlags(&out, "panic: no harbour"); err == nil || !strings.Contains(err.Error(), "no flags") {
		t.Errorf("a program without flags: %v", err)
	}
}
