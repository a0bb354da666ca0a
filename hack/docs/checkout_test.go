package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

const root = "../.."

// otherPages are the pages that are not part of the site.
var otherPages = []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "hack/tools/README.md", "workshop/README.md"}

// operators returns the names of the operators.
func operators(t *testing.T) []string {
	t.Helper()
	names, err := outside.Operators(root)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// charts returns the folders of the operators' charts by their names.
func charts(t *testing.T) map[string]string {
	t.Helper()
	folders := map[string]string{}
	for _, operator := range append(operators(t), "openstack") {
		folders[operator+"-operator"] = "operators/" + operator + "/helm/" + operator + "-operator"
	}
	return folders
}

// pages reads every page of the documentation.
func pages(t *testing.T) []Page {
	t.Helper()
	if _, err := outside.Checkout(root); err != nil {
		t.Fatal(err)
	}
	paths := append([]string{}, otherPages...)
	for _, chart := range charts(t) {
		outside.File(filepath.Join(root, chart))
		paths = append(paths, chart+"/README.md")
	}
	paths = append(paths, sitePages(t)...)
	all := make([]Page, 0, len(paths))
	for _, path := range paths {
		page, err := ReadPage(root, path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page)
	}
	return all
}

func sitePages(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(outside.File(filepath.Join(root, "docs")), func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			paths = append(paths, strings.TrimPrefix(filepath.ToSlash(path), root+"/"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 20 {
		t.Fatalf("there are only %d pages: are they still where the test looks?", len(paths))
	}
	return paths
}

// eachCommand calls visit with every command on the pages: those in blocks of
// shell, and spans that begin with the name of one of the programs.
func eachCommand(t *testing.T, all []Page, visit func(Code, Command), programs ...string) {
	t.Helper()
	visitAll := func(code Code) {
		commands, err := Commands(code.Text)
		if err != nil {
			t.Errorf("%s: %v", code, err)
		}
		for _, command := range commands {
			for _, program := range programs {
				if command.Program() == program {
					visit(code, command)
				}
			}
		}
	}
	for _, page := range all {
		for _, block := range page.Blocks {
			if block.Language == "sh" {
				visitAll(block)
				if block.Mark != "" && block.Mark != markElsewhere {
					t.Errorf("%s: %q is no mark of a block of shell", block, block.Mark)
				}
			}
		}
		for _, span := range page.Spans {
			for _, program := range programs {
				if strings.HasPrefix(span.Text, program+" ") && !strings.ContainsAny(span.Text, "<…") {
					visitAll(span)
				}
			}
		}
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(outside.File(filepath.Join(root, path)))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// definitions returns the operators' own definitions by kind.
func definitions(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "operators", "*", "config", "crd", "bases", "*.yaml"))
	if err != nil || len(files) < 4 {
		t.Fatalf("found the definitions %v, %v", files, err)
	}
	byKind := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		readYAML(t, strings.TrimPrefix(filepath.ToSlash(file), root+"/"), crd)
		byKind[crd.Spec.Names.Kind] = crd
	}
	return byKind
}
