package main

import (
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

func TestOperatorsAreTheFoldersWithAMainProgram(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"boat/main.go", "anchor/main.go", "shared/helm/values.yaml"} {
		path := filepath.Join(root, "operators", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := findOperators(root)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(found))
	for _, o := range found {
		names = append(names, o.name)
	}
	if diff := cmp.Diff([]string{"anchor", "boat"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTheProjectHasTheKindsOfAllOperators(t *testing.T) {
	const root = "../.."
	names, err := outside.Operators(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		outside.File(filepath.Join(root, "operators", name, "config"))
	}
	operators, err := findOperators(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := projectOf(operators)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(outside.File(filepath.Join(root, "PROJECT")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("make generate writes it (-want +got):\n%s", diff)
	}
}

func TestACheckoutWithoutOperatorsIsRefused(t *testing.T) {
	if err := run(t.TempDir(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "at the top of the checkout") {
		t.Errorf("got %v", err)
	}
}

func TestTheProgramThatDescribesAnOperatorIsFormatted(t *testing.T) {
	formatted, err := format.Source([]byte(describeSource))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(formatted), describeSource); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
