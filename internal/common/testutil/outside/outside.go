// Package outside lets tests read files that do not belong to their Go module.
package outside

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// variable is the prefix of the environment variables that hold a digest of files
// of the checkout, such as FORGE_FILES_DOCS. The Makefile sets them.
const variable = "FORGE_FILES_"

// File returns path unchanged, and makes go test repeat the test when a file in
// that part of the checkout has changed. For its cache, Go tracks the environment
// variables that a test reads, but files only within the test's module.
func File(path string) string {
	os.Getenv(variable + part(path))
	return path
}

// Checkout returns the top of the checkout, and makes go test repeat the test when
// a file of the checkout is added or removed, or when the makefiles or a page
// outside docs change.
func Checkout(path string) (string, error) {
	os.Getenv(variable + "CHECKOUT")
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return Root(full)
}

// part returns the part of the checkout that contains the path: an operator, a
// folder in hack, or another folder at the top. It is empty outside a checkout.
func part(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	root, err := Root(full)
	if err != nil {
		return ""
	}
	elements := strings.Split(strings.TrimPrefix(full, root+string(filepath.Separator)), string(filepath.Separator))
	name := elements[0]
	if (name == "operators" || name == "hack") && len(elements) > 1 {
		name = strings.Join(elements[:2], "_")
	}
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}

// Root returns the top of the checkout: the nearest folder at or above path with
// the workspace file.
func Root(path string) (string, error) {
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.work above %s: run the tests inside the checkout", path)
		}
	}
}
