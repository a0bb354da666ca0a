package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

var (
	makeRule     = regexp.MustCompile(`(?m)^([a-zA-Z0-9_.%-]+):`)
	makeVariable = regexp.MustCompile(`(?m)\$[({]([A-Z][A-Z0-9_]*)|\b([A-Z][A-Z0-9_]*) *[?:]?=`)
	flag         = regexp.MustCompile("(?:^|[\\s`])--([a-z0-9-]+)")
	environment  = regexp.MustCompile(`\b([A-Z][A-Z0-9_]+)\b`)
	flagSpan     = regexp.MustCompile(`^--([a-z0-9-]+)(=|$)`)
	filePath     = regexp.MustCompile(`^(\./)?(hack|deploy|docs|images|internal|operators|tests|workshop|\.ci)/[\w./-]+$`)
	dottedPath   = regexp.MustCompile(`^[a-z][A-Za-z0-9]*(\.[a-zA-Z0-9]+(\[\]|\{\})?)+$`)
)

// words returns the matches of the groups of an expression in the files of some
// patterns, relative to the top of the checkout.
func words(t *testing.T, expression *regexp.Regexp, patterns ...string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s matches the files %v, %v", pattern, files, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range expression.FindAllStringSubmatch(string(content), -1) {
				found[strings.Join(match[1:], "")] = true
			}
		}
	}
	return found
}

func TestEveryTargetAndVariableOfMakeExists(t *testing.T) {
	targets := words(t, makeRule, "Makefile", "hack/make/*.mk")
	variables := words(t, makeVariable, "Makefile", "hack/make/*.mk")
	// Variables that a target passes to its script.
	maps.Copy(variables, words(t, environment, "hack/*/*.sh", "workshop/*/*.sh", "workshop/*/parts/*"))
	seen := 0
	eachCommand(t, pages(t), func(code Code, command Command) {
		seen++
		for _, word := range command.Arguments() {
			variable, _, assigned := strings.Cut(word, "=")
			isImage := strings.HasPrefix(word, "image-") && targets["image-%"]
			switch {
			case assigned && !variables[variable]:
				t.Errorf("%s: make has no variable %s", code, variable)
			case !assigned && word != "" && !targets[word] && !isImage:
				t.Errorf("%s: make has no target %s", code, word)
			}
		}
	}, "make")
	enough(t, seen, 60, "commands of make")
}

func TestEveryFileOfTheCheckoutExists(t *testing.T) {
	seen := 0
	check := func(code Code, word string) {
		if !filePath.MatchString(word) {
			return
		}
		seen++
		// A path such as "internal/controller" may be relative to any operator.
		found, err := filepath.Glob(filepath.Join(root, "operators", "*", word))
		if _, missing := os.Stat(filepath.Join(root, word)); missing != nil && (err != nil || len(found) == 0) {
			t.Errorf("%s: there is no %s", code, word)
		}
	}
	for _, page := range pages(t) {
		for _, span := range page.Spans {
			check(span, span.Text)
		}
		for _, block := range page.Blocks {
			for word := range strings.FieldsSeq(block.Text) {
				check(block, strings.Trim(word, `"';)`))
			}
		}
	}
	enough(t, seen, 40, "files")
}

var testName = regexp.MustCompile(`^(?:Test|Fuzz)[A-Z][A-Za-z0-9]+$`)

func TestEveryDocumentedTestExists(t *testing.T) {
	exist := goTests(t)
	seen := 0
	for _, page := range pages(t) {
		for _, span := range page.Spans {
			if !testName.MatchString(span.Text) || span.Text == "TestMain" {
				continue
			}
			seen++
			if !exist[span.Text] {
				t.Errorf("%s: there is no test %s", span, span.Text)
			}
		}
	}
	enough(t, seen, 10, "tests")
}

var ownName = regexp.MustCompile(`\b((?:[a-z0-9-]+\.)*c5c3\.io/[a-z][a-z-]+)\b`)

// TestEveryAnnotationLabelAndFinalizerExists searches the code for our names.
func TestEveryAnnotationLabelAndFinalizerExists(t *testing.T) {
	var source strings.Builder
	for _, folder := range []string{"internal", "operators"} {
		err := filepath.WalkDir(outside.File(filepath.Join(root, folder)), func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			source.Write(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// A page may name an object by its resource, its group and its own name.
	resources := map[string]bool{}
	for _, crd := range definitions(t) {
		resources[crd.Spec.Names.Singular], resources[crd.Spec.Names.Plural] = true, true
	}
	code, seen := source.String(), 0
	for _, page := range pages(t) {
		for _, part := range slices.Concat(page.Blocks, page.Spans) {
			for _, match := range ownName.FindAllString(part.Text, -1) {
				if resource, _, _ := strings.Cut(match, "."); resources[resource] {
					continue
				}
				seen++
				// The prefix may be a separate constant.
				_, name, _ := strings.Cut(match, "/")
				if !strings.Contains(code, `"`+match+`"`) && !strings.Contains(code, "/"+name+`"`) {
					t.Errorf("%s: the code has no annotation, label or finalizer %s", part, match)
				}
			}
		}
	}
	enough(t, seen, 15, "annotations, labels and finalizers")
}

// foreignFlags are flags of other programs that the pages mention without their
// program.
var foreignFlags = map[string]bool{
	"help": true, "wait": true, "all-namespaces": true, "dry-run": true, "check": true, "namespace": true,
}

// TestEveryFlagExists compares the pages with the reference, which is generated
// from the programs' output.
func TestEveryFlagExists(t *testing.T) {
	flags := words(t, flag, "docs/reference/*.md")
	seen := 0
	for _, page := range pages(t) {
		if strings.HasPrefix(page.Path, "docs/reference/") {
			continue
		}
		for _, span := range page.Spans {
			match := flagSpan.FindStringSubmatch(span.Text)
			if match == nil || foreignFlags[match[1]] {
				continue
			}
			seen++
			if !flags[match[1]] {
				t.Errorf("%s: no program of ours has the flag --%s", span, match[1])
			}
		}
	}
	enough(t, seen, 1, "flags")
}

// otherName matches names of files and domains that look like the path of a field.
var otherName = regexp.MustCompile(`\.(go|conf|local)$`)

// TestEveryFieldAndValueExists interprets a path with dots, such as "cluster.name",
// as that of a field or of a chart's value if its first element is one.
func TestEveryFieldAndValueExists(t *testing.T) {
	known, first := map[string]bool{}, map[string]bool{"spec": true, "status": true}
	for _, chart := range charts(t) {
		var values map[string]any
		readYAML(t, chart+"/values.yaml", &values)
		for key := range values {
			first[key] = true
		}
		collectValues("", values, known)
	}
	for _, crd := range definitions(t) {
		for _, version := range crd.Spec.Versions {
			for part, schema := range version.Schema.OpenAPIV3Schema.Properties {
				for name := range schema.Properties {
					first[name] = true
				}
				collectFields(part, &schema, known)
			}
		}
	}
	seen := 0
	for _, page := range pages(t) {
		for _, span := range page.Spans {
			path := strings.NewReplacer("[]", "", "{}", "").Replace(span.Text)
			if root, _, _ := strings.Cut(path, "."); !dottedPath.MatchString(span.Text) || !first[root] || otherName.MatchString(span.Text) {
				continue
			}
			seen++
			if !known[path] {
				t.Errorf("%s: no kind has a field, and no chart a value, %s", span, span.Text)
			}
		}
	}
	enough(t, seen, 100, "fields and values")
}

func collectValues(prefix string, values map[string]any, known map[string]bool) {
	for key, value := range values {
		path := strings.TrimPrefix(prefix+"."+key, ".")
		known[path] = true
		if inner, ok := value.(map[string]any); ok {
			collectValues(path, inner, known)
		}
	}
}

// collectFields also collects the suffixes of paths, since a page about
// "spec.database" may refer to "tls.mode".
func collectFields(path string, schema *apiextensionsv1.JSONSchemaProps, known map[string]bool) {
	for end := path; ; {
		known[end] = true
		_, rest, more := strings.Cut(end, ".")
		if !more {
			break
		}
		end = rest
	}
	switch {
	case schema.Items != nil && schema.Items.Schema != nil:
		collectFields(path, schema.Items.Schema, known)
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		collectFields(path, schema.AdditionalProperties.Schema, known)
	}
	for name, property := range schema.Properties {
		collectFields(path+"."+name, &property, known)
	}
}

// enough fails a test that has found too little to check.
func enough(t *testing.T, seen, want int, what string) {
	t.Helper()
	t.Logf("looked at %d %s", seen, what)
	if seen < want {
		t.Errorf("found only %d %s, there used to be more than %d: does the test still see them?", seen, what, want)
	}
}
