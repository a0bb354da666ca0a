package main

import (
	"errors"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

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
	want := []any{}
	for _, name := range names {
		folder := outside.File(filepath.Join(root, "operators", name, "config"))
		o := operator{name: name, folder: filepath.Dir(folder)}
		crds, err := o.definitions()
		if err != nil {
			t.Fatal(err)
		}
		webhooks, err := os.ReadFile(filepath.Join(folder, "webhook", "manifests.yaml"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, crd := range crds {
			for _, version := range crd.Spec.Versions {
				want = append(want, resourceOf(o, crd, version.Name, string(webhooks)))
			}
		}
	}
	content, err := os.ReadFile(outside.File(filepath.Join(root, "PROJECT")))
	if err != nil {
		t.Fatal(err)
	}
	var project struct {
		Resources []any `json:"resources"`
	}
	if err := yaml.Unmarshal(content, &project); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, project.Resources); diff != "" {
		t.Errorf("PROJECT has other resources (-want +got):\n%s", diff)
	}
}

// resourceOf returns what PROJECT has to say about a version of a kind.
// See https://book.kubebuilder.io/reference/project-config.
func resourceOf(o operator, crd *apiextensionsv1.CustomResourceDefinition, version, webhooks string) map[string]any {
	const domain = "c5c3.io"
	kind, group := crd.Spec.Names.Kind, crd.Spec.Group
	resource := map[string]any{
		"api":        map[string]any{"crdVersion": "v1", "namespaced": crd.Spec.Scope == apiextensionsv1.NamespaceScoped},
		"controller": true, "domain": domain, "kind": kind, "version": version,
		"path": "github.com/c5c3/forge/operators/" + o.name + "/api/" + version,
	}
	if prefix, below := strings.CutSuffix(group, "."+domain); below {
		resource["group"] = prefix
	}
	served := map[string]any{"webhookVersion": "v1"}
	suffix := strings.ReplaceAll(group, ".", "-") + "-" + version + "-" + strings.ToLower(kind) + "\n"
	for task, path := range map[string]string{"defaulting": "/mutate-", "validation": "/validate-"} {
		if strings.Contains(webhooks, path+suffix) {
			served[task], resource["webhooks"] = true, served
		}
	}
	return resource
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
