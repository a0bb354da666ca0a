package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

const (
	behavioursDoc = root + "/docs/behaviours.md"
	conformance   = root + "/internal/common/testutil/conformance"
	suites        = root + "/tests/e2e"
)

var (
	behaviourRow = regexp.MustCompile(`(?m)^\| ([a-z0-9-]+) \| ([^|]+) \| ([^|]+) \|$`)
	sentence     = regexp.MustCompile(`"([a-zA-Z][^"\n]* [^"\n]*)"`)
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
)

func TestEveryBehaviourIsProvenByTestsThatExist(t *testing.T) {
	content, err := os.ReadFile(outside.File(behavioursDoc))
	if err != nil {
		t.Fatal(err)
	}
	rows := behaviourRow.FindAllStringSubmatch(string(content), -1)
	if len(rows) < 50 {
		t.Fatalf("%s has only %d rows", behavioursDoc, len(rows))
	}
	functions, folders := goTests(t), suiteFolders(t)
	proofs := conformanceProofs(t)
	seen, proven := map[string]bool{}, map[string]bool{}
	for _, row := range rows {
		if seen[row[1]] {
			t.Errorf("%s stands twice", row[1])
		}
		seen[row[1]] = true
		for proof := range strings.SplitSeq(row[3], ", ") {
			suite, isSuite := strings.CutPrefix(proof, "`")
			suite = strings.TrimSuffix(suite, "`")
			ofAll, isOfAll := strings.CutPrefix(proof, "Conforms/")
			switch {
			case isOfAll && !proofs[ofAll]:
				t.Errorf("%s: no service is proven to conform in that %s", row[1], ofAll)
			case isSuite && !slices.Contains(folders, suite):
				t.Errorf("%s: there is no suite %s", row[1], suite)
			case !isSuite && !isOfAll && !functions[proof]:
				t.Errorf("%s: there is no test %s", row[1], proof)
			}
			proven[suite] = isSuite
		}
	}
	for _, folder := range folders {
		if !proven[folder] {
			t.Errorf("no behaviour names the suite %s: say what it proves", folder)
		}
	}
}

// goTests returns the names of all tests and fuzz targets.
func goTests(t *testing.T) map[string]bool {
	t.Helper()
	functions := map[string]bool{}
	for _, folder := range []string{"hack", "internal/common", "kubectl-forge", "operators", "workshop"} {
		walk(t, filepath.Join(root, folder), "_test.go", func(path string) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range testFunction.FindAllStringSubmatch(string(content), -1) {
				functions[match[1]] = true
			}
		})
	}
	return functions
}

// conformanceProofs returns the names of what is proven of every service.
func conformanceProofs(t *testing.T) map[string]bool {
	t.Helper()
	proofs := map[string]bool{}
	walk(t, conformance, ".go", func(path string) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range sentence.FindAllStringSubmatch(string(content), -1) {
			proofs[strings.TrimSuffix(match[1], " with ")] = true
		}
	})
	return proofs
}

// suiteFolders returns the folders of all end-to-end suites; those of the Keystone
// operator are returned without its name.
func suiteFolders(t *testing.T) []string {
	t.Helper()
	var folders []string
	walk(t, suites, "chainsaw-test.yaml", func(path string) {
		folder, err := filepath.Rel(suites, filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		folders = append(folders, strings.TrimPrefix(filepath.ToSlash(folder), "keystone/"))
	})
	return folders
}

func walk(t *testing.T, folder, suffix string, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(outside.File(folder), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, suffix) {
			visit(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
